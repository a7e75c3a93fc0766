# Learning from one observation after the other.

"""
    observe!(optimizer, X, Y)

Observes the rows in their order, option `block` of them at a time, and returns the log density of each row before it
was used, in nats (NaN for rows that were not used). Missing targets are `missing` or NaN.

# Examples
```julia
optimizer = Optimizer(model, q, "lo-fi", 1; prior_precision = 10)
for (x, y) in stream
    score = observe!(optimizer, x', [y])[1]
end
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

Moves time on without observations. The next [`observe!`](@ref) belongs to that time; 0 steps: to that of the last.

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

Variance of the parameters' drift per step of time: one number, one per parameter, or `nothing` for option
`process_noise` again.

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

One-step-ahead scores since initialisation: `(count, log_density, error)`, means over the rows observed.

# Examples
```julia
prequential(optimizer).log_density
```
"""
function prequential(optimizer::Optimizer)
    count, log_density, error = Ref{Int64}(), Ref{Float64}(), Ref{Float64}()
    check(LibBDL.bdl_optimizer_prequential(handle(optimizer), count, log_density, error))
    return (count = Int(count[]), log_density = log_density[], error = error[])
end

"""
    guarded_steps(optimizer)

Number of steps in which option `guard` held something back.

# Examples
```julia
guarded_steps(optimizer)  # 0
```
"""
guarded_steps(optimizer::Optimizer) = Int(LibBDL.bdl_optimizer_guarded_steps(alive(optimizer)))

"""
    noise(optimizer)

How training makes the noise of a low-rank-moment posterior: `(is_exact, text)`, a line for each layer.

# Examples
```julia
tied = Optimizer(model, Posterior(model; family = :layerwise_low_rank_moment, rank = 0), "k-tied", 10)
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

Number of steps that were shortened to keep the posterior positive definite.

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

Random draws of training from your own function in place of the library's streams: `source(kind, step, iteration, mean,
std, n)` returns D x n values. `kind` is `:parameters` (draws of q, whose mean and standard deviations are given) or
`:probes` (+-1). `nothing`: the library's streams again. A source is not saved with the optimizer.

# Examples
```julia
antithetic(kind, step, iteration, m, s, n) = (z = randn(length(m), n ÷ 2); m .+ s .* hcat(z, -z))
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
