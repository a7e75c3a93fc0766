# Predictions of estimators.

"""
    predict(m, X; kind = nothing, interval = nothing, std = false,
            levels = (0.05, 0.5, 0.95), method = nothing,
            samples = m.settings.samples, seed = 1, offset = nothing)

Returns predictions of an estimator; a vector if y was a vector. `kind` is

- `:mean`, the default for numbers: the mean of y (for counts the rate, for classes their probabilities)
- `:class`, the default for classes: the most probable label
- `:prob`: the probability of each class, n x K in the order of [`classes`](@ref)
- `:quantile`: quantiles of y at `levels`, n x K
- `:draws`: random samples of y, n x samples (for classes their numbers from 0)

`interval = 0.9` returns `(mean, lower, upper)`: a new y lies in the interval with this probability. `std = true` returns `(mean, std)`,
where `std` is the standard deviation of y with the noise. You can ask for both.

`method` is one of those of `predict(model, posterior, X)`. By default it suits the model and the method of training. `offset` is that
of the rows, for an estimator that was fitted with offsets; `nothing` is 0.

# Examples
```julia
p = predict(m, Xtest[1:3, :]; interval = 0.9)
hcat(p.mean, p.lower, p.upper)

predict(classifier, Xtest[1:3, :])

predict(classifier, Xtest[1:3, :]; kind = :prob)
```
"""
function predict(m::BayesianNetwork, X; kind = nothing, interval::Union{Real,Nothing} = nothing, std::Bool = false,
    levels = (0.05, 0.5, 0.95), method = prediction_method(m), samples::Integer = m.settings.samples,
    seed::Integer = estimator_default(:seed), offset = nothing)
    return predicted(m, (handles_of(m)..., rows_to_predict(m, X, offset)), kind, interval, std, levels,
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
    std::Bool = false, levels = (0.05, 0.5, 0.95), method = nothing, samples = nothing,
    seed::Integer = estimator_default(:seed), offset = nothing)
    isempty(members) && throw(InvalidArgumentError("predict: there are no members"))
    all(m -> isempty(m.others), members) || throw(InvalidArgumentError("predict: a member has members itself"))
    m = first(members)
    all(other -> fitted(other) !== nothing && isequal(other.classes, m.classes), members) ||
        throw(InvalidArgumentError("predict: members know different classes"))
    how = (method = something(method, prediction_method(m)), samples = something(samples, m.settings.samples), seed = seed)
    parts = ([other.model for other in members], [other.posterior for other in members], rows_to_predict(m, X, offset))
    return predicted(m, parts, kind, interval, std, levels, how)
end

function predicted(m, parts, kind, interval, std, levels, how)
    wanted = kind === nothing ? (m.classes === nothing || std || interval !== nothing ? :mean : :class) : Symbol(kind)
    wanted === :mean || !(std || interval !== nothing) ||
        throw(InvalidArgumentError("predict: interval and std belong to kind = :mean, not to $(brief(wanted))"))
    wanted in (:prob, :class) && !(likelihood(m.model) in (:bernoulli, :categorical)) &&
        throw(UnsupportedError("predict: kind = $(repr(wanted)) is for classes, the likelihood is $(repr(likelihood(m.model)))"))
    wanted === :mean && return predicted_mean(m, parts, how, interval, std)
    wanted === :prob && return probabilities(m, parts, how)
    wanted === :class && return predicted_classes(m, parts, how)
    wanted === :quantile && return predict_quantiles(parts..., levels; how...)
    wanted === :draws && return predict_draws(parts..., how.samples; method = drawing(how.method), seed = how.seed)
    throw(InvalidArgumentError("predict: kind is $(brief(kind)); it must be :mean, :class, :prob, :quantile or :draws"))
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

function predicted_mean(m, parts, how, interval, std)
    found = predict(parts...; how...)
    mean = shaped(m, found.mean)
    result = std ? (mean = mean, std = shaped(m, sqrt.(found.epistemic_variance .+ found.noise_variance))) : (mean = mean,)
    interval === nothing && return std ? result : mean
    bounds = predict_interval(parts..., interval; how...)
    return merge(result, (lower = shaped(m, bounds.lower), upper = shaped(m, bounds.upper)))
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
    likelihood(m.model) in (:bernoulli, :categorical) || return mean(map((p, t) -> r2(p, t, w), columns(predictions), columns(y)))
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
