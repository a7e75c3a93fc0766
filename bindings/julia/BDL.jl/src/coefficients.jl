# Coefficients. Those of a GLM are an affine function of the parameters, which know standardised inputs and targets.

"""
    coef(m)

Of a `BayesianGLM` the posterior mean of the coefficients in the data's units: for each output the intercept, then the
slopes ([`coefnames`](@ref)). Of a `BayesianMLP` the posterior mean of the parameters.

# Examples
```julia
coef(m)  # intercept and slopes of a BayesianGLM
```
"""
coef(m::BayesianNetwork{:mlp}) = mean(m.posterior)
function coef(m::BayesianNetwork{:glm})
    A, constant = coefficient_map(m)
    return A * mean(m.posterior) .+ constant
end

"""
    vcov(m)

Posterior covariance of what [`coef`](@ref) returns.

# Examples
```julia
sqrt.(diag(vcov(m))) == stderror(m)  # true
```
"""
vcov(m::BayesianNetwork{:mlp}) = cov(m.posterior)
function vcov(m::BayesianNetwork{:glm})
    A, _ = coefficient_map(m)
    return Symmetric(A * cov(m.posterior) * A')
end

"""
    stderror(m)

Posterior standard deviations of what [`coef`](@ref) returns.

# Examples
```julia
coef(m) ./ stderror(m)
```
"""
stderror(m::BayesianNetwork{:mlp}) = std(m.posterior)
stderror(m::BayesianNetwork{:glm}) = sqrt.(diag(vcov(m)))

"""
    confint(m; level = 0.95)

Central posterior intervals of what [`coef`](@ref) returns: lower and upper limits, a matrix of two columns.

# Examples
```julia
confint(m; level = 0.9)
```
"""
function confint(m::BayesianNetwork; level::Real = 0.95)
    0 < level < 1 || throw(InvalidArgumentError("confint: level is $level; it must be within (0, 1)"))
    half = normal_quantile((1 + level) / 2) .* stderror(m)
    return hcat(coef(m) .- half, coef(m) .+ half)
end

"The standard normal quantile, as the library knows it: of y = f + noise with f = 0 and noise precision 1."
normal_quantile(p) = predict_quantiles(Model((1, 1)), Posterior(2), [0.0], [p]; method = :plug_in)[1]

"""
    coefnames(m)

Names of the coefficients of a `BayesianGLM`: "(Intercept)", "x1", ..., with the output ahead where there are several.

# Examples
```julia
Dict(zip(coefnames(m), coef(m)))
```
"""
function coefnames(m::BayesianNetwork{:glm})
    model = fitted(m).model
    names = [m.settings.bias ? ["(Intercept)"] : String[]; ["x$j" for j in 1:ninputs(model)]]
    C = noutputs(model)
    return C == 1 ? names : ["y$c: $name" for c in 1:C for name in names]
end

"""
The map from parameters w (C x d, row by row), b (C) of f = t (w (x - m) / s + b) + a to intercepts and slopes of f.
"""
function coefficient_map(m::BayesianNetwork{:glm})
    model = fitted(m).model
    d, C, bias = ninputs(model), noutputs(model), m.settings.bias
    scaled = standardization(model)
    slopes = scaled.target_scale ./ scaled.input_scale'  # C x d
    A, constant, K = zeros(C * (d + bias), C * (d + bias)), zeros(C * (d + bias)), d + bias
    for c in 1:C, j in 1:d
        A[(c-1)*K+bias+j, (c-1)*d+j] = slopes[c, j]
        bias && (A[(c-1)*K+1, (c-1)*d+j] = -slopes[c, j] * scaled.input_mean[j])
    end
    for c in 1:(bias ? C : 0)
        A[(c-1)*K+1, C*d+c] = scaled.target_scale[c]
        constant[(c-1)*K+1] = scaled.target_mean[c]
    end
    return A, constant
end
