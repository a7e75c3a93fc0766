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
`true` for a line on stderr, or a function of the optimizer that may return `true` to stop.

# Examples
```julia
fit!(m, X, y; epochs = 10, progress = false)
fit!(m, X, y; progress = o -> progress(o).epoch >= 20)
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
    say_what_is_wrong(optimizer)
    return m
end

"Masks of dropout have no moments to judge."
function say_what_is_wrong(optimizer)
    family(optimizer.posterior) === :dropout && return nothing
    message = diagnose(optimizer).message
    isempty(message) || @warn message
    return nothing
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
    if s.noise !== :gaussian
        word in (:gaussian, s.noise) || throw(InvalidArgumentError("noise $(repr(s.noise)) is for real numbers"))
        word = s.noise
    end
    word === :heteroscedastic && (outputs *= 2)
    model = Model(Int64[size(X, 2); s.hidden; outputs]; activation = s.activation, likelihood = word, bias = s.bias,
        dtype = s.dtype)
    real = word in (:gaussian, :heteroscedastic, :student_t)
    s.standardize && standardize_as!(model, s.prior, X, real ? y : nothing)
    real && size(y, 2) > 1 && start_noise!(model, y, s)
    wish = method_for(m, model, X)
    belief = belief_for(m, model, wish)
    method = something(wish, suggest_method(model, belief))
    optimizer = Optimizer(model, belief, method, size(y, 1); seed = s.seed, options_for(m)...)
    s.prior === nothing || set_prior!(optimizer, belief_of(s.prior))
    m.classes, m.vector, m.optimizer = found, y isa AbstractVector, optimizer
    return m
end

belief_of(prior::Posterior) = prior
belief_of(prior::BayesianNetwork) = prior.posterior
belief_of(other) =
    throw(InvalidArgumentError("prior is a $(typeof(other)); it must be a Posterior or a fitted estimator"))

"By the data, or as the estimator whose posterior is the prior: parameters mean the same in both."
standardize_as!(model, prior, X, y) = standardize!(model, X, y)
function standardize_as!(model, prior::BayesianNetwork, X, y)
    of = standardization(prior.model)
    plain = all(iszero, of.target_mean) && all(isone, of.target_scale)
    return set_standardization!(model; of.input_mean, of.input_scale, target_mean = plain ? nothing : of.target_mean,
        target_scale = plain ? nothing : of.target_scale)
end

"Several targets have a noise each, to be learned from where the library would start a shared one."
function start_noise!(model, y, settings)
    factor = get(settings.options, :initial_noise_precision, 0)
    learns = !isempty(settings.hidden) && get(settings.options, :learn_noise, 1) != 0
    factor == 0 && (factor = learns ? 100 : 1)
    spread = vec(var(y; dims = 1, corrected = false))
    set_noise!(model; precision = factor ./ ifelse.(spread .> 0, spread, 1))
end

class_count(found::AbstractVector, y) = length(found)
class_count(::Nothing, y) = throw(ShapeError("y has $(size(y, 2)) columns; categorical labels are a vector"))

function belief_for(m::BayesianNetwork{:mlp}, model, method)
    m.settings.posterior === nothing || return Posterior(model; family = m.settings.posterior, rank = m.settings.rank)
    family = method === nothing ? :any : describe_method(method).family
    family === :diagonal && return Posterior(model; rank = 0)
    return Posterior(model; family = family === :any ? :low_rank : family, rank = m.settings.rank)
end
function belief_for(m::BayesianNetwork{:glm}, model, method)
    D = nparameters(model)
    usual = method == "exact-full" || D <= MOST_STEPPED_PARAMETERS ? :full : :low_rank
    return Posterior(model; family = something(m.settings.posterior, usual), rank = min(m.settings.rank, D))
end

method_for(m::BayesianNetwork{:mlp}, model, X) = m.settings.method
function method_for(m::BayesianNetwork{:glm}, model, X)
    m.settings.method === nothing || return m.settings.method
    noutputs(model) == 1 || return "slang-ggn"
    fits = nparameters(model) <= MOST_FULL_PARAMETERS && length(X) <= MOST_COPIED_NUMBERS
    return fits && m.settings.posterior in (nothing, :full) ? "exact-full" : "slang-exact-hess"
end

# Up to here what an exact method takes, a copy of the data in double and a full covariance, costs little. Steps cost
# more of the latter.
const MOST_COPIED_NUMBERS, MOST_FULL_PARAMETERS, MOST_STEPPED_PARAMETERS = 2^25, 1000, 200

options_for(m::BayesianNetwork{:mlp}) = m.settings.options
"A standard normal prior of the coefficients, hardly any of the intercepts."
options_for(m::BayesianNetwork{:glm}) =
    merge((learn_prior = 0, learn_noise = 1, bias_prior_precision = 1e-4), m.settings.options)

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
