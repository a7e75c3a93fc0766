# Learning from one observation after the other.

"""
    observe!(optimizer, X, Y)

Learns from rows in their order, option `block` of them at a time. Returns the log density of each row, in nats, before libbdl learned
from it; NaN for rows that were not used. A target that is `missing` or NaN means that nothing was observed.

# Examples
```julia
online = Optimizer(model, Posterior(model; rank = 2), "lo-fi", 1)
for i in axes(X, 1)
    observe!(online, X[i:i, :], y[i:i])
end
prequential(online).count
```
"""
function observe!(optimizer::Optimizer, X, Y)
    x, y = looks(optimizer, X, Y)
    log_density = Vector{Float64}(undef, x.matrix.rows)
    uninterrupted(guarded((), trained(optimizer)) do
        LibBDL.bdl_optimizer_observe(handle(optimizer), x, y, look(log_density))
    end)
    return log_density
end

"""
    forecast!(optimizer, steps)

Moves time on by some steps without observations. The next [`observe!`](@ref) belongs to that time.

# Examples
```julia
forecast!(optimizer, 3)
```
"""
function forecast!(optimizer::Optimizer, steps::Integer)
    foreach(unused, trained(optimizer))
    check(LibBDL.bdl_optimizer_forecast(handle(optimizer), steps))
    return optimizer
end

"""
    set_process_noise!(optimizer, variance)

Sets the variance of the parameters' drift per step of time: one number, or one for each parameter. `nothing` returns to option
`process_noise`.

# Examples
```julia
set_process_noise!(optimizer, 1e-4)
```
"""
function set_process_noise!(optimizer::Optimizer, variance)
    check(LibBDL.bdl_optimizer_set_process_noise(unused(handle(optimizer)), look_row_or_none(variance)))
    return optimizer
end

"""
    prequential(optimizer)

Returns one-step-ahead scores since the start: `(count, log_density, error)`, means over the observed rows.

# Examples
```julia
full = Posterior(model; family = :full)
kalman = Optimizer(model, full, "ekf", 1; prior_precision = 1)
observe!(kalman, X, y)
prequential(kalman)
```
"""
function prequential(optimizer::Optimizer)
    count, log_density, error = Ref{Int64}(), Ref{Float64}(), Ref{Float64}()
    check(LibBDL.bdl_optimizer_prequential(handle(optimizer), count, log_density, error))
    return (count = Int(count[]), log_density = log_density[], error = error[])
end

"""
    guarded_steps(optimizer)

Returns the number of steps that the divergence guard (option `guard`) limited.

# Examples
```julia
guarded_steps(optimizer)  # 0
```
"""
guarded_steps(optimizer::Optimizer) = Int(LibBDL.bdl_optimizer_guarded_steps(alive(optimizer)))

"""
    noise(optimizer)

Returns `(is_exact, text)`: whether the noise of training with a low-rank-moment posterior is exact in every layer, and one line of
text for each layer that names the estimator.

# Examples
```julia
moments = Posterior(model; family = :layerwise_low_rank_moment, rank = 0)
tied = Optimizer(model, moments, "k-tied", 10)
noise(tied).is_exact  # true
```
"""
function noise(optimizer::Optimizer)
    is_exact, text = Ref{Int32}(), Ref{Ptr{UInt8}}()
    check(LibBDL.bdl_optimizer_noise(handle(optimizer), is_exact, text))
    return (is_exact = is_exact[] != 0, text = unsafe_string(text[]))
end

"""
    shortened_steps(optimizer)

Returns the number of steps that libbdl shortened to keep the posterior positive definite.

# Examples
```julia
shortened_steps(optimizer)  # 0
```
"""
shortened_steps(optimizer::Optimizer) = Int(LibBDL.bdl_optimizer_shortened_steps(alive(optimizer)))

"Argument of the trampoline: the user's source of draws and the posterior's type."
mutable struct Draws
    source::Any
    dtype::DataType
end

function on_draws(data::Ptr{Cvoid}, kind::Cint, step::Int64, iteration::Int64, q::Ptr{bdl_posterior},
    draws::bdl_matrix_out)::Int32
    return called_back(Int32(-1)) do
        user = unsafe_pointer_to_objref(data)::Draws
        moments = map((LibBDL.bdl_posterior_mean, LibBDL.bdl_posterior_marginal_variance)) do read
            filled(view -> read(q, view), Vector{user.dtype}(undef, draws.cols), look_row)
        end
        what, n = symbol(DRAW_KINDS, kind), Int(draws.rows)
        found = user.source(what, Int(step), Int(iteration), moments[1], sqrt.(moments[2]), n)
        turned = bdl_matrix_out(draws.data, draws.dtype, 0, draws.cols, draws.rows, draws.col_stride, draws.row_stride)
        answer(found, turned, user.dtype, "draws")
    end
end

"""
    set_draws!(optimizer, source)

Replaces the random numbers of training by your own function. `source(kind, step, iteration, mean, std, n)` returns a D x n matrix.
`kind` is `:parameters` (samples of q, whose mean and standard deviations are given) or `:probes` (random signs, +1 or -1). `nothing`
returns to libbdl's random numbers. A source is not saved with the optimizer.

# Examples
```julia
function antithetic(kind, step, iteration, mean, std, n)
    z = randn(length(mean), n ÷ 2)
    return mean .+ std .* hcat(z, -z)
end
set_draws!(optimizer, antithetic)
```
"""
function set_draws!(optimizer::Optimizer, source)
    h = unused(handle(optimizer))
    draws = source === nothing ? nothing : Draws(source, dtype(optimizer.posterior))
    callback = draws === nothing ? C_NULL : LibBDL.@bdl_draws_fn(on_draws)
    check(LibBDL.bdl_optimizer_set_draws(h, callback, draws === nothing ? C_NULL : pointer_from_objref(draws), C_NULL))
    keep_called!(optimizer; draws = draws === nothing ? nothing : Held(draws, source))
    return optimizer
end
