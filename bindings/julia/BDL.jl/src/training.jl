# Learning from a data set, and how far it has come.

"""
    fit!(optimizer, X, Y; epochs = 100, progress = nothing)
    fit!(optimizer, data::Dataset; epochs = 1, progress = nothing)

Trains on minibatches of the data: X is n x inputs, Y n x targets (a vector if that is 1). `epochs = 0` finishes an
interrupted fit, with the results of one that was never interrupted.

`progress` is called with the optimizer after every epoch (option `progress_every`). It may read the optimizer, its
model and posterior; if it returns `true`, training ends there. An exception in it ends training and comes
out unchanged. Ctrl-C raises `InterruptException`. In each case all is as after the last completed step.

# Examples
```julia
fit!(optimizer, X, y; epochs = 100, progress = o -> println(running_elbo(o)))
```
"""
function fit!(optimizer::Optimizer, X, Y; epochs::Integer = estimator_default(:epochs), progress = nothing)
    x, y = looks(optimizer, X, Y; progress = progress)
    report = progress === nothing ? C_NULL : LibBDL.@bdl_progress_fn(on_fit)
    guarded((), trained(optimizer); progress = () -> progress(optimizer)) do
        LibBDL.bdl_optimizer_fit(handle(optimizer), x, y, epochs, report, C_NULL)
    end
    return optimizer
end

"""
    step!(optimizer, X, Y)

One step on your minibatch. It is taken whole or, on an error, not at all.

# Examples
```julia
step!(optimizer, X[1:10, :], y[1:10])
```
"""
function step!(optimizer::Optimizer, X, Y)
    x, y = looks(optimizer, X, Y)
    guarded((), trained(optimizer)) do
        LibBDL.bdl_optimizer_step(handle(optimizer), x, y)
    end
    return optimizer
end

"""
    step_rows!(optimizer, rows)

One step from your own gradient rows of -log p (n x D).

# Examples
```julia
step_rows!(optimizer, gradient_rows(model, rand(q), X, y))
```
"""
function step_rows!(optimizer::Optimizer, rows)
    g, = looks(optimizer, rows)
    guarded((), trained(optimizer)) do
        LibBDL.bdl_optimizer_step_rows(handle(optimizer), g)
    end
    return optimizer
end

"""
    laplace!(optimizer, X, Y)

Laplace's approximation around the present mean, which should be a mode.

# Examples
```julia
optimizer = Optimizer(model, Posterior(model), "laplace", size(X, 1))
laplace!(fit!(optimizer, X, y), X, y)
```
"""
function laplace!(optimizer::Optimizer, X, Y)
    x, y = looks(optimizer, X, Y)
    uninterrupted(guarded((), trained(optimizer)) do
        LibBDL.bdl_optimizer_laplace(handle(optimizer), x, y)
    end)
    return optimizer
end

"Of calls that end early on nothing but an interrupt."
uninterrupted(status) = status == LibBDL.BDL_STOPPED && throw(InterruptException())

"""
    request_stop!(optimizer)
    request_stop!(search)

Asks a running fit or search to end after its current step, from whatever thread or callback.

# Examples
```julia
request_stop!(optimizer)
fit!(optimizer, X, y; epochs = 5)  # ends after its first step
```
"""
request_stop!(optimizer::Optimizer) = LibBDL.bdl_optimizer_request_stop(alive(optimizer))

"""
    elbo(optimizer, X, Y; samples = 100, seed = 1)

The parts of the ELBO on given data: `(elbo, expected_log_likelihood, kl)`, for N examples. `samples = 0` is exact
quadrature, for generalised linear models with one output.

# Examples
```julia
elbo(optimizer, X, y).elbo
```
"""
function elbo(optimizer::Optimizer, X, Y; samples::Integer = 100, seed::Integer = 1)
    (x, y), log_likelihood, kl = looks(optimizer, X, Y), Ref{Float64}(), Ref{Float64}(NaN)
    uninterrupted(guarded(trained(optimizer)) do
        LibBDL.bdl_optimizer_elbo(handle(optimizer), x, y, samples, seed, log_likelihood, wanted_kl(optimizer, kl))
    end)
    return elbo_parts(log_likelihood[], kl[])
end

"""
    running_elbo(optimizer)

The same parts as training sees them: free of cost, but noisy.

# Examples
```julia
running_elbo(optimizer).elbo
```
"""
function running_elbo(optimizer::Optimizer)
    log_likelihood, kl = Ref{Float64}(), Ref{Float64}(NaN)
    check(LibBDL.bdl_optimizer_running_elbo(handle(optimizer), log_likelihood, wanted_kl(optimizer, kl)))
    return elbo_parts(log_likelihood[], kl[])
end

"Dropout has no KL divergence: NaN, and no ELBO, then."
wanted_kl(optimizer, kl) = family(optimizer.posterior) === :dropout ? C_NULL : kl

elbo_parts(log_likelihood, kl) = (elbo = log_likelihood - kl, expected_log_likelihood = log_likelihood, kl = kl)

"""
    progress(optimizer)

Where training is: `(step, planned, epoch)`.

# Examples
```julia
progress(optimizer).step
```
"""
function progress(optimizer::Optimizer)
    step, planned, epoch = Ref{Int64}(), Ref{Int64}(), Ref{Float64}()
    check(LibBDL.bdl_optimizer_progress(handle(optimizer), step, planned, epoch))
    return (step = Int(step[]), planned = Int(planned[]), epoch = epoch[])
end

"""
    diagnose(optimizer)

Has training moved the posterior? `(mean_shift, precision_shift, message)`: below 0.1 a shift says no, and the message
what to change; it is "" if both have moved.

# Examples
```julia
println(diagnose(optimizer).message)
```
"""
function diagnose(optimizer::Optimizer)
    mean_shift, precision_shift, message = Ref{Float64}(), Ref{Float64}(), Ref{Ptr{UInt8}}()
    check(LibBDL.bdl_optimizer_diagnose(handle(optimizer), mean_shift, precision_shift, message))
    return (mean_shift = mean_shift[], precision_shift = precision_shift[], message = unsafe_string(message[]))
end

"""
    diagnose(optimizer, X, Y)

How much a network's answers for these rows differ: `(spread, message)`, the spread in standard deviations of the targets or as a
probability. Below 0.01 they are all the same, and the message says what to change; else it is "".

# Examples
```julia
println(diagnose(optimizer, X, y).message)
```
"""
function diagnose(optimizer::Optimizer, X, Y)
    x, y = looks(optimizer, X, Y)
    spread, message = Ref{Float64}(), Ref{Ptr{UInt8}}()
    check(LibBDL.bdl_optimizer_diagnose_answers(handle(optimizer), x, y, spread, message))
    return (spread = spread[], message = unsafe_string(message[]))
end
