# Sends itself SIGINT during long calls; prints how many seconds later each has raised InterruptException.
using BDL, Statistics

Base.exit_on_sigint(false)
const n = 5000
const X, y = randn(n, 20), randn(n)

"The delay from the signal to the exception, of the second of two tries: the first compiles."
function latency(call)
    delay = NaN
    for _ in 1:2
        when = tempname()
        run(pipeline(`sh -c "sleep 0.5; date +%s.%N; kill -INT $(getpid())"`; stdout = when); wait = false)
        delay = try
            call()
            NaN
        catch e
            e isa InterruptException ? time() - parse(Float64, read(when, String)) : rethrow()
        end
    end
    return delay
end

const model = Model((20, 50, 1))
const optimizer = Optimizer(model, Posterior(model; rank = 5), n)
println("fit ", latency(() -> fit!(optimizer, X, y; epochs = 10^6)))
const step = progress(optimizer).step
println("fit_with_progress ", latency(() -> fit!(optimizer, X, y; epochs = 10^6, progress = o -> sleep(0.001))))
step!(optimizer, X[1:10, :], y[1:10])
println("predict ", latency(() -> predict(model, optimizer.posterior, X; samples = 10^6)))

const own = Model((theta, X) -> X * theta, (theta, X, G) -> G .* X; inputs = 20, parameters = 20)
const trained = Optimizer(own, Posterior(own), n)
println("own_model ", latency(() -> fit!(trained, X, y; epochs = 10^6)))
step!(trained, X[1:10, :], y[1:10])

const search = vary!(Search(optimizer; epochs = 10^5), :learning_rate, 0.01, 0.1)
println("search ", latency(() -> run!(search, X, y)))
println("usable ", step > 0 && all(isfinite, mean(optimizer.posterior)) && all(isfinite, mean(trained.posterior)))

# Two threads share a model and posterior, a third party collects garbage; a training each.
const wanted = predict(model, optimizer.posterior, X; samples = 20)
const same = zeros(Bool, 4)
Threads.@threads for k in 1:4
    q = optimizer.posterior
    same[k] = predict(model, q, X; samples = 20) == wanted
    mine = copy(optimizer)
    step!(mine, X, y)
    GC.gc()
    same[k] &= mean(mine.posterior) != mean(q)
end
println("threads ", all(same))
