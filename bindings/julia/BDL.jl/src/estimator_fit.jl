# Making an estimator's network and training it.

"""
    fit(BayesianMLP, X, y; ...)
    fit(BayesianGLM, X, y; ...)

See [`BayesianMLP`](@ref) and [`BayesianGLM`](@ref).

# Examples
```julia
fit(BayesianMLP, X, y; hidden = (20,), epochs = 60, progress = false)
```
"""
fit(::Type{T}, X, y; progress = isinteractive(), settings...) where {T<:BayesianNetwork} =
    fit!(T(; settings...), X, y; progress = progress)

"""
    fit!(m, X, y; epochs, progress = isinteractive())

Trains an estimator; a fitted one goes on from where it is, with the standardisation and classes that it has. `progress`:
`true` for a line on stderr, or a function of the optimizer that may return `:stop`.

# Examples
```julia
fit!(m, X, y; epochs = 10, progress = false)
fit!(m, X, y; progress = o -> progress(o).epoch < 20)
```
"""
function fit!(m::BayesianNetwork, X, y; epochs::Integer = m.settings.epochs, progress = isinteractive())
    y isa AbstractVecOrMat || throw(ShapeError("y is $(summary_of(y)); it must be a vector or a matrix"))
    fresh = getfield(m, :optimizer) === nothing
    fresh && build!(m, X, y)
    optimizer = m.optimizer
    try
        targets = encoded_targets(m, y)
        m.observations = size(y, 1)
        shown(progress) do report
            fit!(optimizer, X, targets; epochs = epochs, progress = report)
        end
    finally
        # What has learned nothing must not tie the next fit to these data.
        fresh && BDL.progress(optimizer).step == 0 && forget!(m)
    end
    return m
end

function forget!(m::BayesianNetwork)
    m.optimizer = m.classes = nothing
    return m
end

"Model, posterior and optimizer for the data's shape."
function build!(m::BayesianNetwork, X, y::AbstractVecOrMat)
    X isa AbstractVecOrMat || throw(ShapeError("X is $(summary_of(X)); it must be a matrix"))
    s = m.settings
    word = s.likelihood === :auto ? automatic_likelihood(y) : s.likelihood
    found = classes_for(word, y)
    outputs = word === :categorical ? class_count(found, y) : size(y, 2)
    model = Model(Int64[size(X, 2); s.hidden; outputs]; activation = s.activation, likelihood = word, bias = s.bias,
        dtype = s.dtype)
    s.standardize && standardize!(model, X, word === :gaussian ? y : nothing)
    optimizer = Optimizer(model, belief_for(m, model), method_for(m, model), size(y, 1); seed = s.seed, s.options...)
    m.classes, m.vector, m.optimizer = found, y isa AbstractVector, optimizer
    return m
end

class_count(found::AbstractVector, y) = length(found)
class_count(::Nothing, y) = throw(ShapeError("y has $(size(y, 2)) columns; categorical labels are a vector"))

belief_for(m::BayesianNetwork{:mlp}, model) = Posterior(model; family = m.settings.posterior, rank = m.settings.rank)
function belief_for(m::BayesianNetwork{:glm}, model)
    D = nparameters(model)
    family = something(m.settings.posterior, D <= 1000 ? :full : :low_rank)
    return Posterior(model; family = family, rank = min(m.settings.rank, D))
end

method_for(m::BayesianNetwork{:mlp}, model) = m.settings.method
method_for(m::BayesianNetwork{:glm}, model) =
    something(m.settings.method, noutputs(model) == 1 ? "slang-exact-hess" : "slang-ggn")

"Targets as the likelihood expects them."
encoded_targets(m::BayesianNetwork, y) = y
encoded_targets(m::BayesianNetwork, y::AbstractVector) = m.classes === nothing ? y : encoded(y, m.classes)

"Runs `train` with the progress function that the caller has asked for."
shown(train, progress::Function) = train(progress)
shown(train, ::Nothing) = train(nothing)
function shown(train, progress::Bool)
    progress || return train(nothing)
    try
        return train(progress_line())
    finally
        println(stderr)
    end
end
shown(train, progress) =
    applicable(progress, nothing) ? train(progress) :
    throw(InvalidArgumentError("progress is $(repr(progress)); it must be true, false or a function"))

"A progress function that writes one line over and over, at most ten times a second."
function progress_line(io::IO = stderr)
    last = 0.0
    return function (optimizer)
        step, planned, epoch = progress(optimizer)
        time() - last < 0.1 && step < planned && return nothing
        last = time()
        print(io, "\rstep ", step, " of ", planned, ", epoch ", round(Int, epoch), elbo_text(optimizer), "   ")
        return nothing
    end
end

function elbo_text(optimizer)
    try
        return string(", ELBO ", round(running_elbo(optimizer).elbo; digits = 1))
    catch e
        e isa UnsupportedError || rethrow()
        return ""  # a dropout posterior has no KL divergence
    end
end
