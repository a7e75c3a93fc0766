# The examples of all docstrings run, each in a module of its own with the names that examples use.

const STAGE = read(joinpath(@__DIR__, "stage.jl"), String)

examples_of(text) = (m.captures[1] for m in eachmatch(r"```julia\n(.*?)```"s, text))

function example_runs(name, code, output)
    try
        stage = Module()
        include_string(stage, STAGE, "stage.jl")
        redirect_stdout(() -> include_string(stage, code, name), output)
        return true
    catch e
        println("example of $name: ", sprint(showerror, e), "\n", code)
        return false
    end
end

mktempdir() do folder
    cd(folder) do
        open("output", "w") do output
            for (binding, found) in Docs.meta(BDL), doc in values(found.docs)
                codes = collect(examples_of(join(doc.text)))
                Base.isexported(BDL, binding.var) && @test !isempty(codes)
                for code in codes
                    @test example_runs(string(binding), code, output)
                end
            end
        end
    end
end
