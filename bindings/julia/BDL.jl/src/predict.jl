# Predictive distributions. All take the same first arguments and keywords, and may run concurrently; or a predictor
# that was made of those.

"Facts of a model that determine the shapes of predictions."
struct Facts
    likelihood::Symbol
    means::Int
    moments::Int
    outputs::Int
    targets::Int
    has_variance::Bool
end

Facts(model::Model, others::Model...) = Facts(likelihood(model), nmeans(model), nmoments(model), noutputs(model), ntargets(model),
    likelihood(model) !== :student_t || all(member -> degrees_of_freedom(member) > 2, (model, others...)))

"A single prediction of model and posterior as they are."
struct Once
    model::Model
    posterior::Posterior
    facts::Facts
    method::Cint
    samples::Int64
    seed::UInt64
end

Once(model::Model, q::Posterior, method, samples, seed) =
    Once(model, q, Facts(model), number(PREDICT_METHODS, method), samples, seed)

"""
    Predictor(model, posterior; method = :monte_carlo, samples = 500, seed = 1)

Prepares many predictions of one model and posterior. A predictor takes the place of model, posterior and keywords in
[`predict`](@ref), [`predict_quantiles`](@ref), [`predict_interval`](@ref), [`predict_classes`](@ref),
[`predict_log_density`](@ref), [`predict_draws`](@ref), [`predict_outputs`](@ref) and [`predict_leverage`](@ref), with identical
results.

It generates the posterior samples once and keeps its memory, so that a prediction of a single row is fast. Later training does not
change a predictor. Tasks on several threads need one predictor each.

# Examples
```julia
predictor = Predictor(model, q; samples = 100)
row = X[1:1, :]
predict(predictor, row).mean == predict(model, q, row; samples = 100).mean  # true
```
"""
struct Predictor <: Owner
    handle::bdl_predictor
    facts::Facts
    method::Cint
    samples::Int64  # of all members together
    members::Int
end

function Predictor(model::Model, q::Posterior; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed))
    how, m, p = number(PREDICT_METHODS, method), handle(model), handle(q)
    made = create(bdl_predictor, m.keep) do out
        status = guarded(() -> LibBDL.bdl_predictor_create(m, p, how, samples, seed, out), (m, p))
        uninterrupted(status)
        status
    end
    return Predictor(made, Facts(model), how, samples, 1)
end

"""
    Predictor(models, posteriors; method = :monte_carlo, samples = 500, seed = 1)

Prepares predictions of a deep ensemble (Lakshminarayanan et al. 2017), given by its models and posteriors, each trained with another
seed. The ensemble predicts the equal mixture. Member j uses `seed + j - 1`; samples of y come from the members in turn.

# Examples
```julia
ensemble = Predictor([model, copy(model)], [q, copy(q)]; samples = 100)
predict(ensemble, X[1:3, :]).epistemic_variance
```
"""
function Predictor(models::AbstractVector{Model}, posteriors::AbstractVector{<:Posterior}; method = :monte_carlo,
    samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed))
    length(models) == length(posteriors) ||
        throw(InvalidArgumentError("there are $(length(models)) models and $(length(posteriors)) posteriors"))
    isempty(models) && throw(InvalidArgumentError("there are no members"))
    how, m, p = number(PREDICT_METHODS, method), map(handle, models), map(handle, posteriors)
    kept = filter(!isnothing, [h.keep for h in m])
    made = create(bdl_predictor, isempty(kept) ? nothing : kept) do out
        status = guarded((m..., p...)) do
            addresses = map(h -> Base.unsafe_convert(Ptr{bdl_model}, h), m), map(h -> Base.unsafe_convert(Ptr{bdl_posterior}, h), p)
            LibBDL.bdl_predictor_create_ensemble(addresses..., length(m), how, samples, seed, out)
        end
        uninterrupted(status)
        status
    end
    return Predictor(made, Facts(models...), how, samples * length(models), length(models))
end

describe(io::IO, p::Predictor) = print(io, "Predictor(", symbol(PREDICT_METHODS, p.method), ", ", p.samples ÷ p.members,
    " samples", p.members == 1 ? ")" : ", $(p.members) members)")

const Asked = Union{Once,Predictor}

"The function `once` of model and posterior, or `again` of a predictor, with data, method where it has none, and the rest."
function ask(p::Once, once, again, data, rest...)
    m, q = handle(p.model), handle(p.posterior)
    return uninterrupted(guarded(() -> once(m, q, data..., p.method, p.samples, p.seed, rest...), (m, q)))
end

ask(p::Predictor, once, again, data, rest...) =
    uninterrupted(guarded(() -> again(p.handle, data..., rest...), (), (p.handle,)))

looks(p::Once, arrays...) = looks(p.model, arrays...)
looks(p::Predictor, arrays...) = map(p.handle.keep === nothing ? look : look_steadily, arrays)

"""
    predict(model, posterior, X; method = :monte_carlo, samples = 500, seed = 1)

Returns the mean of y and two variances, `(mean, epistemic_variance, noise_variance)`, each n x C. The epistemic variance comes from
the uncertainty of the parameters, the noise variance from the likelihood; the variance of y is their sum. For `:categorical`, y is a
vector with a 1 at the class.

- `method`: `:monte_carlo` (the default; averages over samples of the posterior), `:plug_in` (the posterior mean only), `:quadrature`
  (exact, for generalised linear models with one output), `:linearized` (closed forms for the linearised model),
  `:linearized_monte_carlo`, or `:local_monte_carlo` (for low-rank-moment posteriors)
- `samples`, `seed`: number and seed of the samples

# Examples
```julia
p = predict(model, q, X[1:3, :])
sqrt.(p.epistemic_variance .+ p.noise_variance)  # standard deviations of y
```
"""
predict(model::Model, q::Posterior, X; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed)) = predict(Once(model, q, method, samples, seed), X)

function predict(p::Asked, X)
    (x,), C = looks(p, X), p.facts.moments
    mean, epistemic_variance, noise_variance = (Matrix{Float64}(undef, x.matrix.rows, C) for _ in 1:3)
    ask(p, LibBDL.bdl_predict, LibBDL.bdl_predictor_moments, (x,), look(mean), look(epistemic_variance),
        p.facts.has_variance ? look(noise_variance) : NO_MATRIX)
    p.facts.has_variance || fill!(noise_variance, Inf)
    return (mean = mean, epistemic_variance = epistemic_variance, noise_variance = noise_variance)
end

"""
    predict_quantiles(model, posterior, X, levels; of = :y, method, samples, seed)

Returns quantiles at K levels: n x K for one output, else n x C x K. `of` says of what:

- `:y`: a new observation, noise included, for real numbers and counts
- `:mean`: the mean of y; of classes their probabilities
- `:link`: the linear predictor: the mean of y, log odds, the log rate, or the logits of classes

Quantiles of the last two are credible: they are as wide as the posterior, without the noise.

# Examples
```julia
predict_quantiles(model, q, X[1:3, :], [0.05, 0.5, 0.95])
predict_quantiles(model, q, X[1:3, :], [0.05, 0.5, 0.95]; of = :mean)
```
"""
predict_quantiles(model::Model, q::Posterior, X, levels; of = :y, method = :monte_carlo,
    samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed)) =
    predict_quantiles(Once(model, q, method, samples, seed), X, levels; of = of)

function predict_quantiles(p::Asked, X, levels; of = :y)
    quantity = number(QUANTITIES, of)
    (x,), C = looks(p, X), p.facts.means
    wanted = levels isa Tuple ? collect(levels) : levels
    K = length(wanted)
    quantiles = Matrix{Float64}(undef, x.matrix.rows, C * K)
    ask(p, LibBDL.bdl_predict_quantiles_of, LibBDL.bdl_predictor_quantiles_of, (x,), quantity, look_row(wanted), look(quantiles))
    # Column c K + k is output c at level k.
    return C == 1 ? quantiles : permutedims(reshape(quantiles, :, K, C), (1, 3, 2))
end

"""
    predict_interval(model, posterior, X, probability = 0.9; of = :y, method, samples, seed)

Returns central intervals `(lower, upper)`, each n x C, that contain y, or with `of` its mean or its linear predictor, with the given
probability ([`predict_quantiles`](@ref)).

# Examples
```julia
interval = predict_interval(model, q, X[1:3, :], 0.5)
hcat(interval.lower, interval.upper)
predict_interval(model, q, X[1:3, :], 0.5; of = :mean)
```
"""
predict_interval(model::Model, q::Posterior, X, probability::Real = 0.9; of = :y, method = :monte_carlo,
    samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed)) =
    predict_interval(Once(model, q, method, samples, seed), X, probability; of = of)

function predict_interval(p::Asked, X, probability::Real = 0.9; of = :y)
    number(QUANTITIES, of) == LibBDL.BDL_QUANTITY_Y || return credible_interval(p, X, probability, of)
    (x,), C = looks(p, X), p.facts.means
    lower, upper = (Matrix{Float64}(undef, x.matrix.rows, C) for _ in 1:2)
    ask(p, LibBDL.bdl_predict_interval, LibBDL.bdl_predictor_interval, (x,), probability, look(lower), look(upper))
    return (lower = lower, upper = upper)
end

function credible_interval(p::Asked, X, probability, of)
    0 < probability < 1 || throw(InvalidArgumentError("probability is $probability; it must be within (0, 1)"))
    outside = (1 - probability) / 2
    found = reshape(predict_quantiles(p, X, [outside, 1 - outside]; of = of), :, p.facts.means, 2)
    return (lower = found[:, :, 1], upper = found[:, :, 2])
end

"""
    predict_classes(model, posterior, X; method, samples, seed)

Returns `(probabilities, entropy, mutual_information)` for classes. `probabilities` is n x C, or P(y = 1) for `:bernoulli`. The mutual
information is the part of the entropy that comes from the uncertainty of the parameters; both are in nats.

# Examples
```julia
logistic = Model((6, 1); likelihood = :bernoulli)
predict_classes(logistic, Posterior(logistic), X[1:3, :]).probabilities
```
"""
predict_classes(model::Model, q::Posterior, X; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed)) = predict_classes(Once(model, q, method, samples, seed), X)

function predict_classes(p::Asked, X)
    (x,), facts = looks(p, X), p.facts
    n = x.matrix.rows
    probabilities = Matrix{Float64}(undef, n, facts.moments)
    entropy, information = (Matrix{Float64}(undef, n, facts.targets) for _ in 1:2)
    # The probit approximation of several classes has no mutual information.
    none = p.method == LibBDL.BDL_LINEARIZED && facts.likelihood === :categorical
    ask(p, LibBDL.bdl_predict_classes, LibBDL.bdl_predictor_classes, (x,), look(probabilities), look(entropy),
        none ? NO_MATRIX : look(information))
    return (probabilities = probabilities, entropy = entropy, mutual_information = none ? nothing : information)
end

"""
    predict_log_density(model, posterior, X, Y; method, samples, seed)

Returns log p(y | x) of each example in nats, jointly over its targets: a vector.

# Examples
```julia
predict_log_density(model, q, X[1:3, :], y[1:3])
```
"""
predict_log_density(model::Model, q::Posterior, X, Y; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed)) = predict_log_density(Once(model, q, method, samples, seed), X, Y)

function predict_log_density(p::Asked, X, Y)
    x, y = looks(p, X, Y)
    log_density = Vector{Float64}(undef, x.matrix.rows)
    ask(p, LibBDL.bdl_predict_log_density, LibBDL.bdl_predictor_log_density, (x, y), look(log_density))
    return log_density
end

"""
    predict_draws(model, posterior, X, samples = 500; of = :y, method = :monte_carlo, seed = 1)

Returns random samples of y, or with `of` of its mean or its linear predictor ([`predict_quantiles`](@ref)): n x samples for one target,
else n x targets x samples. Sample k of every example uses the same parameters, and so do samples of y, mean and link with equal seeds.

# Examples
```julia
size(predict_draws(model, q, X, 100)) == (size(X, 1), 100)  # true
predict_draws(model, q, X[1:3, :], 100; of = :mean)
```
"""
predict_draws(model::Model, q::Posterior, X, samples::Integer = estimator_default(:samples); of = :y, method = :monte_carlo,
    seed::Integer = estimator_default(:seed)) = predict_draws(Once(model, q, method, samples, seed), X; of = of)

function predict_draws(p::Asked, X; of = :y)
    (x,), samples, quantity = looks(p, X), p.samples, number(QUANTITIES, of)
    targets = quantity == LibBDL.BDL_QUANTITY_Y ? p.facts.targets : p.facts.means
    samples >= 1 || throw(InvalidArgumentError("samples is $samples; it must be 1 or more"))
    draws = Matrix{Float64}(undef, x.matrix.rows, targets * samples)
    ask(p, LibBDL.bdl_predict_draws_of, LibBDL.bdl_predictor_draws_of, (x,), quantity, look(draws))
    return targets == 1 ? draws : permutedims(reshape(draws, :, samples, targets), (1, 3, 2))
end

"""
    predict_log_likelihood(model, posterior, X, Y, samples = 500; method = :monte_carlo, seed = 1)

Returns log p(y | x, parameters) of each example and sample of the parameters, samples x n, in nats. [`loo`](@ref) and [`waic`](@ref)
compare models by these numbers.

# Examples
```julia
size(predict_log_likelihood(model, q, X, y, 100)) == (100, length(y))  # true
```
"""
predict_log_likelihood(model::Model, q::Posterior, X, Y, samples::Integer = estimator_default(:samples); method = :monte_carlo,
    seed::Integer = estimator_default(:seed)) = predict_log_likelihood(Once(model, q, method, samples, seed), X, Y)

function predict_log_likelihood(p::Asked, X, Y)
    p.samples >= 1 || throw(InvalidArgumentError("samples is $(p.samples); it must be 1 or more"))
    x, y = looks(p, X, Y)
    values = Matrix{Float64}(undef, p.samples, x.matrix.rows)
    ask(p, LibBDL.bdl_predict_log_likelihood, LibBDL.bdl_predictor_log_likelihood, (x, y), look(values))
    return values
end

"""
    predict_outputs(model, posterior, X)

Returns the distribution of the linearised model's outputs before the likelihood: `(mean, covariance)`, n x C and C x C x n.

# Examples
```julia
predict_outputs(model, q, X[1:3, :]).covariance[1, 1, :]
```
"""
predict_outputs(model::Model, q::Posterior, X) = predict_outputs(Once(model, q, :linearized, 0, 0), X)

function predict_outputs(p::Asked, X)
    (x,), C = looks(p, X), p.facts.outputs
    mean = Matrix{Float64}(undef, x.matrix.rows, C)
    covariance = Matrix{Float64}(undef, C * C, x.matrix.rows)
    once(m, q, x, method, samples, seed, mean, covariance) =
        LibBDL.bdl_predict_output_distribution(m, q, x, mean, covariance)
    ask(p, once, LibBDL.bdl_predictor_output_distribution, (x,), look(mean), as_rows(covariance))
    return (mean = mean, covariance = reshape(covariance, C, C, :))
end

"""
    predict_leverage(model, posterior, X)

Returns the leverages of rows, `(leverage, left_out)`, two vectors. The leverage is the variance of the linearised model's outputs,
for standardised targets; a row with a large leverage is unlike the training data. `left_out` is the leverage that a row of the training data
would have without itself.

# Examples
```julia
known = predict_leverage(model, q, X)
far = predict_leverage(model, q, 10 .* X).leverage ./ mean(known.leverage)
minimum(far)
```
"""
predict_leverage(model::Model, q::Posterior, X) = predict_leverage(Once(model, q, :linearized, 0, 0), X)

function predict_leverage(p::Asked, X)
    (x,) = looks(p, X)
    leverage, left_out = (Vector{Float64}(undef, x.matrix.rows) for _ in 1:2)
    once(m, q, x, method, samples, seed, outputs...) = LibBDL.bdl_predict_leverage(m, q, x, outputs...)
    ask(p, once, LibBDL.bdl_predictor_leverage, (x,), look(leverage), look(left_out))
    return (leverage = leverage, left_out = left_out)
end

# Models and posteriors of a deep ensemble.
const Models = AbstractVector{Model}
const Posteriors = AbstractVector{<:Posterior}

predict(models::Models, posteriors::Posteriors, X; how...) = predict(Predictor(models, posteriors; how...), X)
predict_quantiles(models::Models, posteriors::Posteriors, X, levels; of = :y, how...) =
    predict_quantiles(Predictor(models, posteriors; how...), X, levels; of = of)
predict_interval(models::Models, posteriors::Posteriors, X, probability; of = :y, how...) =
    predict_interval(Predictor(models, posteriors; how...), X, probability; of = of)
predict_classes(models::Models, posteriors::Posteriors, X; how...) = predict_classes(Predictor(models, posteriors; how...), X)
predict_log_density(models::Models, posteriors::Posteriors, X, y; how...) =
    predict_log_density(Predictor(models, posteriors; how...), X, y)
predict_draws(models::Models, posteriors::Posteriors, X, samples::Integer; of = :y, how...) =
    predict_draws(Predictor(models, posteriors; samples = samples, how...), X; of = of)
predict_log_likelihood(models::Models, posteriors::Posteriors, X, y, samples::Integer; how...) =
    predict_log_likelihood(Predictor(models, posteriors; samples = samples, how...), X, y)
predict_leverage(models::Models, posteriors::Posteriors, X) = predict_leverage(Predictor(models, posteriors; method = :plug_in), X)
