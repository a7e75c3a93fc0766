# Sends itself SIGINT during long calls; prints how many seconds later each has raised InterruptException. Then threads: predictions, ranks.
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

# Two ranks, each on a thread, have the results of one; if one cannot read, the other names it.
function learner()
    network = Model((20, 5, 1))
    return Optimizer(network, Posterior(network; rank = 0), "vogn", 200; minibatch = 40, shards = 2)
end
function two_ranks(work)
    posts, results = [Channel{Vector{UInt8}}(9) for _ in 1:2], Any[nothing, nothing]
    Timer(_ -> foreach(close, posts), 60)  # rather than wait for a rank that is lost
    swap(r, message) = (put!(posts[3-r], message); take!(posts[r]))
    Threads.@threads for r in 1:2
        results[r] = try
            gather(mine) = (other = swap(r, mine); r == 1 ? (mine, other) : (other, mine))
            ranks = Communicator(gather, (peer, mine) -> swap(r, mine); rank = r - 1, size = 2)
            work(set_communicator!(learner(), ranks), ranks)
        catch e
            e
        end
    end
    return results
end
const alone = fit!(learner(), X[1:200, :], y[1:200]; epochs = 2)
const means = two_ranks() do optimizer, ranks
    fit!(optimizer, Dataset(X[1:200, :], y[1:200]); epochs = 2)
    traffic(ranks).received > 0 ? mean(optimizer.posterior) : nothing
end
const lost = two_ranks() do optimizer, ranks
    fit!(optimizer, Dataset(rows -> maximum(rows) > 100 ? throw(KeyError(:disk)) : (X[rows, :], y[rows]), 200; inputs = 20))
end
println("ranks ", all(==(mean(alone.posterior)), means))
println("lost ", lost[1] isa PeerError && occursin("process 1 of 2 has failed", lost[1].message) && lost[2] isa KeyError)
