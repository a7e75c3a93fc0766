# Measures what one call costs from Julia beyond C: julia overhead.jl MICROSECONDS, those of the same step in C (step.c).
using BDL, Printf

const STEPS = 50000

function microseconds(call)
    call()
    best = minimum(@elapsed(for _ in 1:STEPS
            call()
        end) for _ in 1:5)
    return best / STEPS * 1e6
end

function main(in_c)
    X, y = [0.1 0.2], reshape([0.3], 1, 1)
    model = Model((2, 1))
    optimizer = Optimizer(model, Posterior(model; rank = 0), 50; threads = 1)
    handle, x, t = optimizer.handle, BDL.look(X), BDL.look(y)
    low = GC.@preserve X y microseconds(() -> BDL.LibBDL.bdl_optimizer_step(handle, x, t))
    high = microseconds(() -> step!(optimizer, X, y))
    @printf("Julia:  bdl_optimizer_step() %.2f us (+%.2f), step!() %.2f us (+%.2f)\n", low, low - in_c, high, high - in_c)
end

main(parse(Float64, ARGS[1]))
