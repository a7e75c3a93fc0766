# Runs the blocks of a page in one session: a line of standard input names a file with code and the stem of its figures.

function run_block(path)
    code = read(path, String)
    value = Base.invokelatest(include_string, Main, code, "page")
    if value !== nothing && !endswith(rstrip(code), ';')
        Base.invokelatest(show, IOContext(stdout, :limit => true, :displaysize => (24, 88)), MIME("text/plain"), value)
        println()
    end
end

function main()
    for line in eachline(stdin)
        state = "ok"
        try
            Base.invokelatest(run_block, split(line)[1])
        catch problem
            problem isa LoadError && (problem = problem.error)
            print("ERROR: ")
            showerror(stdout, problem)
            println()
            state = "failed"
        end
        println("\x01", state)
        flush(stdout)
    end
end

main()
