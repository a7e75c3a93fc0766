# Ctrl-C, in a process of its own, which checks as well that two threads may predict at once and be two ranks.
let two_threads = merge(ENV, Dict("JULIA_NUM_THREADS" => "2")), script = joinpath(PROJECT, "test", "interrupted.jl"),
    output = read(setenv(`$CHILD $script`, two_threads), String)

    lines = Dict(Pair(split(line, ' ')...) for line in split(output, '\n'; keepempty = false))
    for call in ("fit", "fit_with_progress", "own_model", "predict", "search")
        @test haskey(lines, call) && parse(Float64, lines[call]) < 0.2
    end
    @test lines["usable"] == "true" && lines["threads"] == "true"
    @test lines["ranks"] == "true" && lines["lost"] == "true"
end
