# What a call costs in Julia beyond the C function itself, in microseconds: medians of alternating calls. Run it with
#   BDL_LIBRARY=path/to/libbdl.so.0 julia --project=bindings/julia/BDL.jl bindings/julia/bench/overhead.jl
using BDL, Printf, Statistics

const lib = BDL.LibBDL

"Microseconds of both calls, the first through the package and the second bare, in turns."
function compare(name, call, bare; rounds = 2000)
    call(), bare()
    times = zeros(rounds, 2)
    for i in 1:rounds
        times[i, 1] = @elapsed call()
        times[i, 2] = @elapsed bare()
    end
    package, c = 1e6 .* vec(median(times; dims = 1))
    @printf("%-28s %8.1f us, in C %8.1f us, overhead %5.1f us\n", name, package, c, package - c)
end

"An optimizer of a small network."
function small(inputs, hidden)
    model = Model((inputs, hidden, 1))
    return Optimizer(model, Posterior(model; rank = 2), 100; threads = 1)
end

function main()
    for (inputs, hidden, n) in ((2, 3, 1), (6, 50, 10))
        X, y = randn(n, inputs), randn(n)
        optimizer = small(inputs, hidden)
        h, x, t = optimizer.handle, BDL.look(X), BDL.look(y)
        GC.@preserve X y compare("step!, D = $(nparameters(optimizer.model)), n = $n", () -> step!(optimizer, X, y),
            () -> lib.bdl_optimizer_step(h, x.matrix, t.matrix))
        q, theta = optimizer.posterior, zeros(nparameters(optimizer.model))
        view = BDL.look_row(theta)
        GC.@preserve theta compare("mean(posterior)", () -> mean(q), () -> lib.bdl_posterior_mean(q.handle, view.matrix))
        out = [BDL.look(zeros(n, 1)) for _ in 1:3]
        GC.@preserve X out compare("predict, 10 samples", () -> predict(optimizer.model, q, X; samples = 10),
            () -> lib.bdl_predict(optimizer.model.handle, q.handle, x.matrix, 1, 10, 1, (v.matrix for v in out)...))
    end
end

main()
