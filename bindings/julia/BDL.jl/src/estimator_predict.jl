# Predictions of estimators.

"""
    predict(m, X; kind = nothing, interval = nothing, of = :y, std = false,
            levels = (0.05, 0.5, 0.95), method = nothing,
            samples = m.settings.samples, seed = 1, offset = nothing)

Returns predictions of an estimator; a vector if y was a vector. `kind` is

- `:mean`, the default for numbers: the mean of y (for counts the rate, for classes their probabilities)
- `:class`, the default for classes: the most probable label
- `:prob`: the probability of each class, n x K in the order of [`classes`](@ref)
- `:link`: the mean of the linear predictor (log odds, log rates, logits of classes)
- `:quantile`: quantiles of y at `levels`, n x K
- `:draws`: random samples of y, n x samples (for classes their numbers from 0)

`interval = 0.9` returns `(mean, lower, upper)`: a new y lies in the interval with this probability. `std = true` returns `(mean, std)`,
where `std` is the standard deviation of y with the noise. You can ask for both.

`of` says what intervals, quantiles and draws are of: `:y`, a new observation; `:mean`, the mean of y or the probabilities of classes;
or `:link`, the linear predictor. Those of the last two are credible: they tell how well the posterior knows the mean, without the noise.
With `kind = :prob` and `kind = :link`, `interval` is of the probabilities and of the link.

`method` is one of those of `predict(model, posterior, X)`. By default it suits the model and the method of training. `offset` is that
of the rows, for an estimator that was fitted with offsets; `nothing` is 0.

# Examples
```julia
p = predict(m, Xtest[1:3, :]; interval = 0.9)
hcat(p.mean, p.lower, p.upper)

predict(classifier, Xtest[1:3, :])

predict(classifier, Xtest[1:3, :]; kind = :prob)

predict(m, Xtest[1:3, :]; interval = 0.9, of = :mean)
```
"""
function predict(m::BayesianNetwork, X; kind = nothing, interval::Union{Real,Nothing} = nothing, of = :y, std::Bool = false,
    levels = (0.05, 0.5, 0.95), method = prediction_method(m), samples::Integer = m.settings.samples,
    seed::Integer = estimator_default(:seed), offset = nothing)
    return predicted(m, (handles_of(m)..., rows_to_predict(m, X, offset)), kind, interval, of, std, levels,
        (method = method, samples = samples, seed = seed))
end

"""
    predict(members, X; the same keywords)

Returns predictions of a deep ensemble (Lakshminarayanan et al. 2017): a vector of fitted estimators of the same data, each with another
seed. The ensemble predicts the equal mixture; samples come from the members in turn.

# Examples
```julia
member(seed) = fit(BayesianMLP, X, y; method = "laplace", seed, progress = false)
members = [member(seed) for seed in 1:3]
p = predict(members, Xtest[1:3, :]; interval = 0.9)
hcat(p.mean, p.lower, p.upper)
```
"""
function predict(members::AbstractVector{<:BayesianNetwork}, X; kind = nothing, interval::Union{Real,Nothing} = nothing,
    of = :y, std::Bool = false, levels = (0.05, 0.5, 0.95), method = nothing, samples = nothing,
    seed::Integer = estimator_default(:seed), offset = nothing)
    isempty(members) && throw(InvalidArgumentError("predict: there are no members"))
    all(m -> isempty(m.others), members) || throw(InvalidArgumentError("predict: a member has members itself"))
    m = first(members)
    all(other -> fitted(other) !== nothing && isequal(other.classes, m.classes), members) ||
        throw(InvalidArgumentError("predict: members know different classes"))
    how = (method = something(method, prediction_method(m)), samples = something(samples, m.settings.samples), seed = seed)
    parts = ([other.model for other in members], [other.posterior for other in members], rows_to_predict(m, X, offset))
    return predicted(m, parts, kind, interval, of, std, levels, how)
end

function predicted(m, parts, kind, interval, of, std, levels, how)
    wanted = kind === nothing ? (m.classes === nothing || std || interval !== nothing ? :mean : :class) : Symbol(kind)
    wanted === :mean || !std || throw(InvalidArgumentError("predict: std belongs to kind = :mean, not to $(brief(wanted))"))
    wanted in (:mean, :prob, :link) || interval === nothing ||
        throw(InvalidArgumentError("predict: interval belongs to kind = :mean, :prob or :link, not to $(brief(wanted))"))
    quantity = symbol(QUANTITIES, number(QUANTITIES, of))
    wanted in (:prob, :class) && !(likelihood(m.model) in CLASS_LIKELIHOODS) &&
        throw(UnsupportedError("predict: kind = $(repr(wanted)) is for classes, the likelihood is $(repr(likelihood(m.model)))"))
    wanted === :mean && return predicted_mean(m, parts, how, interval, quantity, std)
    wanted === :prob && return predicted_probabilities(m, parts, how, interval)
    wanted === :link && return predicted_link(m, parts, how, interval)
    wanted === :class && return predicted_classes(m, parts, how)
    wanted === :quantile && return predict_quantiles(parts..., levels; of = quantity, how...)
    wanted === :draws &&
        return predict_draws(parts..., how.samples; of = quantity, method = drawing(how.method), seed = how.seed)
    throw(InvalidArgumentError("predict: kind is $(brief(kind)); it must be :mean, :class, :prob, :link, :quantile or :draws"))
end

"One example per row, of as many columns as the model has inputs, and the offsets behind them."
function rows_to_predict(m::BayesianNetwork, X, offset = nothing)
    X isa AbstractVector && ninputs(fitted(m).model) != 1 && throw(ShapeError(
        "X is a vector, which is one column, expected $(ninputs(m.model)): X[i:i, :] is one row"))
    rows = example_rows(m, X)
    offset === nothing && noffsets(m.model) == 0 && return rows
    rows isa AbstractVecOrMat || throw(ShapeError("X is $(summary_of(rows)); it must be a matrix"))
    return with_offset(rows, known_offset(m, offset, size(rows, 1)))
end

"Returns the default method of predictions, which suits the method of training and the model."
prediction_method(m::BayesianNetwork) = prediction_method(fitted(m))

"Integrals have no draws, and those of a point are of the noise alone."
drawing(method) = method in (:quadrature, :plug_in) ? :monte_carlo : method

"Returns the values in the shape of y: a vector for one column."
shaped(m::BayesianNetwork, A::AbstractMatrix) = m.vector && size(A, 2) == 1 ? vec(A) : A

function predicted_mean(m, parts, how, interval, of, std)
    of === :link && interval !== nothing && return predicted_link(m, parts, how, interval)
    found = predict(parts...; how...)
    mean = shaped(m, found.mean)
    result = std ? (mean = mean, std = shaped(m, sqrt.(found.epistemic_variance .+ found.noise_variance))) : (mean = mean,)
    interval === nothing && return std ? result : mean
    bounds = predict_interval(parts..., interval; of = of, how...)
    return merge(result, (lower = shaped(m, bounds.lower), upper = shaped(m, bounds.upper)))
end

"Probabilities of all classes, with `interval` as `(prob, lower, upper)`."
function predicted_probabilities(m, parts, how, interval)
    p = probabilities(m, parts, how)
    interval === nothing && return p
    bounds = predict_interval(parts..., interval; of = :mean, how...)
    both = m.classes !== nothing && size(bounds.lower, 2) == 1  # P(second class) is known
    lower = both ? hcat(1 .- bounds.upper, bounds.lower) : bounds.lower
    upper = both ? hcat(1 .- bounds.lower, bounds.upper) : bounds.upper
    return (prob = p, lower = lower, upper = upper)
end

"""
Means of the linear predictor, with `interval` as `(mean, lower, upper)`: of its distribution where that is Gaussian, else of draws.
"""
function predicted_link(m, parts, how, interval)
    C = nmeans(m.model)
    if parts[1] isa Model && Symbol(how.method) in (:quadrature, :linearized, :plug_in)
        model, q, X = parts
        found = Matrix{Float64}(undef, size(X, 1), noutputs(model))
        x, h, p = look(X), handle(model), handle(q)
        uninterrupted(guarded(() -> LibBDL.bdl_predict_output_distribution(h, p, x, look(found), NO_MATRIX), (h, p)))
        mean = found[:, 1:C]
    else
        draws = predict_draws(parts..., how.samples; of = :link, method = drawing(how.method), seed = how.seed)
        mean = reshape(Statistics.mean(draws; dims = ndims(draws)), :, C)
    end
    interval === nothing && return shaped(m, mean)
    bounds = predict_interval(parts..., interval; of = :link, how...)
    return (mean = shaped(m, mean), lower = shaped(m, bounds.lower), upper = shaped(m, bounds.upper))
end

function probabilities(m, parts, how)
    p = predict_classes(parts...; how...).probabilities
    return m.classes !== nothing && size(p, 2) == 1 ? hcat(1 .- p, p) : p
end

function predicted_classes(m, parts, how)
    p = probabilities(m, parts, how)
    m.classes === nothing && return p .> 0.5  # a matrix of 0 and 1: each output is a question of its own
    return [m.classes[argmax(row)] for row in eachrow(p)]
end

"""
    predict_log_likelihood(m, X, y; samples = m.settings.samples, seed = 1, weights = nothing, offset = nothing)

Returns log p(y | x, parameters) of each row and sample of the posterior, samples x n, in nats.

# Examples
```julia
loo(predict_log_likelihood(m, X, y; samples = 1000))
```
"""
function predict_log_likelihood(m::BayesianNetwork, X, y; samples::Integer = m.settings.samples, seed::Integer = estimator_default(:seed),
    method = prediction_method(m), weights = nothing, offset = nothing)
    targets = with_weights(encoded_targets(m, y), known_weights(m, weights, size(y, 1)))
    return predict_log_likelihood(handles_of(m)..., rows_to_predict(m, X, offset), targets, samples; method = drawing(method), seed = seed)
end

"""
    loo(m, X, y; samples = 2000, seed = 1, weights = nothing, offset = nothing)

Returns the expected log predictive density by leave-one-out cross-validation without new fits, see [`loo`](@ref). X and y are the
training data.

# Examples
```julia
loo(m, X, y).elpd
```
"""
loo(m::BayesianNetwork, X, y; samples::Integer = 2000, seed::Integer = estimator_default(:seed), rows...) =
    (check_has_spread(m, "loo"); loo(predict_log_likelihood(m, X, y; samples = samples, seed = seed, rows...)))

"""
    waic(m, X, y; samples = 2000, seed = 1, weights = nothing, offset = nothing)

Returns the expected log predictive density by the widely applicable information criterion, see [`waic`](@ref). X and y are the training
data.

# Examples
```julia
waic(m, X, y).effective_parameters
```
"""
waic(m::BayesianNetwork, X, y; samples::Integer = 2000, seed::Integer = estimator_default(:seed), rows...) =
    (check_has_spread(m, "waic"); waic(predict_log_likelihood(m, X, y; samples = samples, seed = seed, rows...)))

check_has_spread(m, what) = isempty(m.others) && is_point(m) &&
    throw(UnsupportedError("$what needs draws of a posterior: method \"$(method(fitted(m)))\" finds a point, which has no covariance"))

"""
    score(m, X, y; weights = nothing, offset = nothing)

Returns the coefficient of determination R^2 of the predicted means, averaged over the targets. For classes it returns the share of
right predictions.

# Examples
```julia
score(m, X, y)
```
"""
function score(m::BayesianNetwork, X, y; weights = nothing, keywords...)
    w = weights === nothing ? ones(size(y, 1)) : checked_weights(weights, size(y, 1))
    predictions = predict(m, X; keywords...)
    (size(predictions, 1), size(predictions, 2)) == (size(y, 1), size(y, 2)) ||
        throw(ShapeError("score: y has $(size(y)) values, expected $(size(predictions))"))
    likelihood(m.model) in CLASS_LIKELIHOODS || return mean(map((p, t) -> r2(p, t, w), columns(predictions), columns(y)))
    average(right) = sum(w .* right) / (sum(w) * size(y, 2))
    m.classes === nothing && return average((predictions .> 0.5) .== (y .> 0.5))
    return average(are_shares(y) ? ifelse.(predictions .== 1, y, 1 .- y) : predictions .== y)  # of the single trials
end

columns(A) = collect(eachcol(A isa AbstractVector ? reshape(A, :, 1) : A))
r2(prediction, y, w) = 1 - sum(w .* abs2.(y .- prediction)) / sum(w .* abs2.(y .- sum(w .* y) / sum(w)))

"""
    loglikelihood(m, X, y; weights = nothing, offset = nothing)
    loglikelihood(m)

Returns the log predictive density of data, summed over the rows, in nats, as often as their weights say. Without data it returns the expected log likelihood of the
training data, as training has estimated it.

# Examples
```julia
loglikelihood(m, Xtest, ytest) / length(ytest)
```
"""
function loglikelihood(m::BayesianNetwork, X, y; method = prediction_method(m), samples::Integer = m.settings.samples, weights = nothing,
    offset = nothing, keywords...)
    targets = with_weights(encoded_targets(m, y), known_weights(m, weights, size(y, 1)))
    return sum(predict_log_density(handles_of(m)..., rows_to_predict(m, X, offset), targets; method = method, samples = samples,
        keywords...))
end
loglikelihood(m::BayesianNetwork) = running_elbo(fitted(m)).expected_log_likelihood
