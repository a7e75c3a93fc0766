# The examples of all docstrings run, each in a module of its own with the names that examples use.

const STAGE = quote
    using BDL, LinearAlgebra, Random, Statistics
    X = Xnew = Xtest = randn(40, 6)
    y = ytest = X[:, 1] .+ 0.1 .* randn(40)
    counts, stream = round.(Int, abs.(y)), zip(eachrow(X), y)
    model = Model((6, 4, 1))
    q = Posterior(model; rank = 2)
    optimizer = fit!(Optimizer(model, q, 40), X, y; epochs = 1)
    m = fit(BayesianGLM, X, y; epochs = 2, progress = false)
    classifier = fit(BayesianMLP, X, y .> 0; hidden = (4,), epochs = 2, progress = false)
    search = run!(vary!(Search(optimizer; folds = 2, epochs = 1), :samples, 1, 3), X, y; random = 1, bayesian = 0)
    save("yacht.safetensors", optimizer)
end

examples_of(text) = (m.captures[1] for m in eachmatch(r"```julia\n(.*?)```"s, text))

function example_runs(name, code, output)
    try
        stage = Module()
        Core.eval(stage, STAGE)
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
            for (binding, found) in Docs.meta(BDL), doc in values(found.docs), code in examples_of(join(doc.text))
                @test example_runs(string(binding), code, output)
            end
        end
    end
end
