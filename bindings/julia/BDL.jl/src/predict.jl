# Predictive distributions. All take the same first arguments and keywords, and may run concurrently.

"""
    predict(model, posterior, X; method = :monte_carlo, samples = 500, seed = 1)

Mean of y and the two kinds of variance, `(mean, epistemic_variance, noise_variance)`, each n x C: from not knowing the
parameters, and from the likelihood; their sum is the variance of y. For `:categorical`, y is the one-hot vector.

Methods: `:monte_carlo` (draws of q), `:plug_in` (its mean only), `:quadrature` (exact, generalised linear models with
one output), `:linearized` (closed forms), `:linearized_monte_carlo`.

# Examples
```julia
p = predict(model, q, X)
sqrt.(p.epistemic_variance .+ p.noise_variance)  # standard deviations
```
"""
function predict(model::Model, q::Posterior, X; method = :monte_carlo, samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed))
    (x,), how, C = looks(model, X), number(PREDICT_METHODS, method), nmeans(model)
    mean, epistemic_variance, noise_variance = (Matrix{Float64}(undef, x.matrix.rows, C) for _ in 1:3)
    infinite = likelihood(model) === :student_t && degrees_of_freedom(model) <= 2  # no variance
    predicted(model, q) do m, p
        LibBDL.bdl_predict(m, p, x, how, samples, seed, look(mean), look(epistemic_variance),
            infinite ? NO_MATRIX : look(noise_variance))
    end
    infinite && fill!(noise_variance, Inf)
    return (mean = mean, epistemic_variance = epistemic_variance, noise_variance = noise_variance)
end

predicted(call, model::Model, q::Posterior) =
    uninterrupted(guarded(() -> call(handle(model), handle(q)), (handle(model), handle(q))))

"""
    predict_quantiles(model, posterior, X, levels; method, samples, seed)

Quantiles of y, noise included, at K levels: n x K for one output, else n x C x K. Real numbers and counts.

# Examples
```julia
predict_quantiles(model, q, X, [0.05, 0.5, 0.95])
```
"""
function predict_quantiles(model::Model, q::Posterior, X, levels; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed))
    (x,), how, C = looks(model, X), number(PREDICT_METHODS, method), nmeans(model)
    wanted = levels isa Tuple ? collect(levels) : levels
    K = length(wanted)
    quantiles = Matrix{Float64}(undef, x.matrix.rows, C * K)
    predicted(model, q) do m, p
        LibBDL.bdl_predict_quantiles(m, p, x, how, samples, seed, look_row(wanted), look(quantiles))
    end
    # Column c K + k is output c at level k.
    return C == 1 ? quantiles : permutedims(reshape(quantiles, :, K, C), (1, 3, 2))
end

"""
    predict_interval(model, posterior, X, probability = 0.9; method, samples, seed)

Central intervals that hold y with that probability: `(lower, upper)`, each n x C.

# Examples
```julia
predict_interval(model, q, X, 0.5).lower
```
"""
function predict_interval(model::Model, q::Posterior, X, probability::Real = 0.9; method = :monte_carlo,
    samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed))
    (x,), how, C = looks(model, X), number(PREDICT_METHODS, method), nmeans(model)
    lower, upper = (Matrix{Float64}(undef, x.matrix.rows, C) for _ in 1:2)
    predicted(model, q) do m, p
        LibBDL.bdl_predict_interval(m, p, x, how, samples, seed, probability, look(lower), look(upper))
    end
    return (lower = lower, upper = upper)
end

"""
    predict_classes(model, posterior, X; method, samples, seed)

`(probabilities, entropy, mutual_information)` of classes, in nats: probabilities are n x C, or P(y = 1) for
`:bernoulli`; the mutual information is the part of the entropy that is due to not knowing the parameters.

# Examples
```julia
logistic = Model((6, 1); likelihood = :bernoulli)
predict_classes(logistic, Posterior(logistic), X).entropy
```
"""
function predict_classes(model::Model, q::Posterior, X; method = :monte_carlo, samples::Integer = estimator_default(:samples), seed::Integer = estimator_default(:seed))
    (x,), how, C = looks(model, X), number(PREDICT_METHODS, method), noutputs(model)
    n = x.matrix.rows
    probabilities = Matrix{Float64}(undef, n, C)
    entropy, information = (Matrix{Float64}(undef, n, ntargets(model)) for _ in 1:2)
    # The probit approximation of several classes has no mutual information.
    none = how == LibBDL.BDL_LINEARIZED && likelihood(model) === :categorical
    predicted(model, q) do m, p
        LibBDL.bdl_predict_classes(m, p, x, how, samples, seed, look(probabilities), look(entropy),
            none ? NO_MATRIX : look(information))
    end
    return (probabilities = probabilities, entropy = entropy, mutual_information = none ? nothing : information)
end

"""
    predict_log_density(model, posterior, X, Y; method, samples, seed)

log p(y | x) of each example, jointly over its targets, in nats: a vector.

# Examples
```julia
sum(predict_log_density(model, q, X, y))
```
"""
function predict_log_density(model::Model, q::Posterior, X, Y; method = :monte_carlo, samples::Integer = estimator_default(:samples),
    seed::Integer = estimator_default(:seed))
    (x, y), how = looks(model, X, Y), number(PREDICT_METHODS, method)
    log_density = Vector{Float64}(undef, x.matrix.rows)
    predicted(model, q) do m, p
        LibBDL.bdl_predict_log_density(m, p, x, y, how, samples, seed, look(log_density))
    end
    return log_density
end

"""
    predict_draws(model, posterior, X, samples = 500; method = :monte_carlo, seed = 1)

Draws of y: n x samples for one target, else n x targets x samples. Draw k of every example comes from parameter draw k.

# Examples
```julia
size(predict_draws(model, q, X, 100)) == (size(X, 1), 100)  # true
```
"""
function predict_draws(model::Model, q::Posterior, X, samples::Integer = estimator_default(:samples); method = :monte_carlo, seed::Integer = estimator_default(:seed))
    (x,), how, targets = looks(model, X), number(PREDICT_METHODS, method), ntargets(model)
    samples >= 1 || throw(InvalidArgumentError("samples is $samples; it must be 1 or more"))
    draws = Matrix{Float64}(undef, x.matrix.rows, targets * samples)
    predicted(model, q) do m, p
        LibBDL.bdl_predict_draws_by(m, p, x, how, samples, seed, look(draws))
    end
    return targets == 1 ? draws : permutedims(reshape(draws, :, samples, targets), (1, 3, 2))
end

"""
    predict_outputs(model, posterior, X)

The law of the linearised model's outputs before the likelihood: `(mean, covariance)`, n x C and C x C x n.

# Examples
```julia
predict_outputs(model, q, X).covariance[1, 1, :]
```
"""
function predict_outputs(model::Model, q::Posterior, X)
    (x,), C = looks(model, X), noutputs(model)
    mean = Matrix{Float64}(undef, x.matrix.rows, C)
    covariance = Matrix{Float64}(undef, C * C, x.matrix.rows)
    predicted(model, q) do m, p
        LibBDL.bdl_predict_output_distribution(m, p, x, look(mean), as_rows(covariance))
    end
    return (mean = mean, covariance = reshape(covariance, C, C, :))
end
