# Learning from a data set, and how far it has come.

"""
    fit!(optimizer, X, Y; epochs = 100, progress = nothing)
    fit!(optimizer, data::Dataset; epochs = 1, progress = nothing)

Trains on minibatches of the data. X is n x inputs, and Y is n x targets or a vector. `epochs` is the number of passes over the data.
`epochs = 0` finishes an interrupted fit, with the same results as without the interruption.

libbdl calls `progress` with the optimizer after every epoch (option `progress_every`). The function may read the optimizer, its model
and its posterior. Training stops if it returns `true`. An exception in it ends training and reaches you unchanged. Ctrl-C raises
`InterruptException`. In each case the optimizer has the state after its last complete step.

# Examples
```julia
fit!(optimizer, X, y; epochs = 3,
     progress = o -> println(round(running_elbo(o).elbo; digits = 1)))
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

Takes one step on a minibatch. On an error nothing changes.

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

Takes one step from gradients of -log p that you have computed, an n x D matrix with a row for each example.

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

Computes Laplace's approximation around the present mean, which should be a mode.

# Examples
```julia
mode = Optimizer(model, Posterior(model), "laplace", size(X, 1))
laplace!(fit!(mode, X, y), X, y)
```
"""
function laplace!(optimizer::Optimizer, X, Y)
    x, y = looks(optimizer, X, Y)
    uninterrupted(guarded((), trained(optimizer)) do
        LibBDL.bdl_optimizer_laplace(handle(optimizer), x, y)
    end)
    return optimizer
end

"Throws if a call was stopped, which only an interrupt does."
uninterrupted(status) = status == LibBDL.BDL_STOPPED && throw(InterruptException())

"""
    request_stop!(optimizer)
    request_stop!(search)

Asks a running fit or search to end after its current step. You can call it from any thread or callback.

# Examples
```julia
request_stop!(optimizer)
fit!(optimizer, X, y; epochs = 5)  # ends after its first step
```
"""
request_stop!(optimizer::Optimizer) = LibBDL.bdl_optimizer_request_stop(alive(optimizer))

"""
    elbo(optimizer, X, Y; samples = 100, seed = 1)

Returns the evidence lower bound and its two parts on given data: `(elbo, expected_log_likelihood, kl)`, in nats. The bound is the
second number minus the third. `samples = 0` integrates exactly, for generalised linear models with one output.

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

Returns the evidence lower bound and its parts as training has estimated them, without further computation. The values are noisy.

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

Returns the state of training: `(step, planned, epoch)`.

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

Checks whether training has moved the posterior. Returns `(mean_shift, precision_shift, message)`. A shift below 0.1 means that the mean
or the precision is near its initial value; `message` then explains what to change. It is "" if both have moved.

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

Checks whether the predictions for these rows differ from each other. Returns `(spread, message)`; the spread is in standard
deviations of the targets, or a probability. Below 0.01 all predictions are nearly equal, and `message` explains what to change.
Otherwise it is "".

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
