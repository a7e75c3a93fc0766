# Coefficients. Those of a linear model are an affine function of the parameters, which know standardised inputs and targets.

"Whether it is a generalised linear model, which a network without hidden units is, too."
is_linear(::BayesianGLM) = true
is_linear(m::BayesianMLP) = isempty(m.settings.hidden)
is_linear(::BayesianConv) = false

"""
    coef(m; base = nothing)

Returns the posterior mean of the coefficients in the units of the data, for a `BayesianGLM` and for a `BayesianMLP` without hidden
units: for each output the intercept, then the slopes ([`coefnames`](@ref)). For other networks it returns the posterior mean of the
parameters.

For a `:categorical` model, `base` is a class with which the others are compared, as in other packages: the coefficients are those of each
other class less those of `base`. Without it each class has coefficients of its own; the prior alone determines their common level, so
that their standard deviations are large, above all those of intercepts.

# Examples
```julia
coef(m)  # intercept and slopes of a BayesianGLM
```
"""
function coef(m::BayesianNetwork; base = nothing)
    base === nothing || is_linear(m) || base_class(m, base)
    is_linear(m) || return mean(m.posterior)
    A, constant = coefficient_map(m, base)
    return A * mean(m.posterior) .+ constant
end

"""
    vcov(m; base = nothing)

Returns the posterior covariance matrix of [`coef`](@ref), with `base` that of contrasts. Methods that find a single point, such as "map", have no covariance: the
result is then NaN, with a warning.

# Examples
```julia
sqrt.(diag(vcov(m))) == stderror(m)  # true
```
"""
vcov(m::BayesianNetwork; base = nothing) = (warn_of_point(m); covariance(m, base))

"""
    stderror(m; base = nothing)

Returns the posterior standard deviations of [`coef`](@ref). They are NaN if [`vcov`](@ref) is NaN.

# Examples
```julia
coef(m) ./ stderror(m)
```
"""
stderror(m::BayesianNetwork; base = nothing) = (warn_of_point(m); deviations(m, base))

"""
    confint(m; level = 0.95, base = nothing)

Returns central posterior intervals of [`coef`](@ref), a matrix with the lower and the upper limits. They are NaN if [`vcov`](@ref) is
NaN. Of linear models whose noise was estimated they are those of Student's t distribution ([`noise_degrees_of_freedom`](@ref)).

# Examples
```julia
confint(m; level = 0.9)
```
"""
function confint(m::BayesianNetwork; level::Real = 0.95, base = nothing)
    0 < level < 1 || throw(InvalidArgumentError("confint: level is $level; it must be within (0, 1)"))
    half = standard_quantile.((1 + level) / 2, coefficient_degrees(m, base)) .* stderror(m; base = base)
    return hcat(coef(m; base = base) .- half, coef(m; base = base) .+ half)
end

"Returns the degrees of freedom of each coefficient's distribution; Inf for a normal one."
function coefficient_degrees(m, base = nothing)
    model = fitted(m).model
    count = length(coef(m; base = base))
    is_linear(m) && likelihood(model) === :gaussian || return fill(Inf, count)
    return repeat(noise_degrees_of_freedom(model); inner = count ÷ ntargets(model))
end

"The quantile of Student's t or (`degrees` = Inf) of the normal distribution, as the library knows it: of y = f + noise with f = 0."
function standard_quantile(p, degrees)
    noise = Model((1, 1); likelihood = degrees < 1e6 ? :student_t : :gaussian)
    degrees < 1e6 && set_degrees_of_freedom!(noise, max(degrees, 0.1))
    return predict_quantiles(noise, Posterior(2), [0.0], [p]; method = :plug_in)[1]
end

"""
    sample_coefficients(m, samples = 500; seed = 1, base = nothing)

Returns random samples of the coefficients, samples x K, in the units of the data and in the order of [`coefnames`](@ref).

# Examples
```julia
draws = sample_coefficients(m, 1000)
mean(draws[:, 2] .> 0)  # the probability that the first slope is positive
```
"""
function sample_coefficients(m::BayesianNetwork, samples::Integer = estimator_default(:samples);
    seed::Integer = estimator_default(:seed), base = nothing)
    samples >= 1 || throw(InvalidArgumentError("samples is $samples; it must be 1 or more"))
    isempty(m.others) || throw(UnsupportedError("coefficients are of one posterior, but the estimator has $(1 + length(m.others)) members"))
    base === nothing || is_linear(m) || base_class(m, base)
    parameters = rand(m.posterior, samples; seed = seed)
    is_linear(m) || return permutedims(parameters)
    A, constant = coefficient_map(m, base)
    return permutedims(A * parameters .+ constant)
end

"The place of the base class among the classes of a linear model."
function base_class(m, base)
    is_linear(m) && likelihood(fitted(m).model) === :categorical ||
        throw(UnsupportedError("base is for linear models of three classes or more, of family :categorical"))
    known = m.classes === nothing ? (0:noutputs(m.model)-1) : m.classes
    place = findfirst(isequal(base), known)
    place === nothing && throw(InvalidArgumentError("base is $(brief(base)); it must be one of the classes: $(join(repr.(known), ", "))"))
    return place
end

function covariance(m::BayesianNetwork, base = nothing)
    if is_point(m)
        K = length(coef(m; base = base))
        return Symmetric(fill(NaN, K, K))
    end
    base === nothing || is_linear(m) || base_class(m, base)
    is_linear(m) || return cov(m.posterior)
    A, _ = coefficient_map(m, base)
    return Symmetric(A * cov(m.posterior) * A')
end

function deviations(m::BayesianNetwork, base = nothing)
    is_point(m) && return fill(NaN, length(coef(m; base = base)))
    return is_linear(m) || base !== nothing ? sqrt.(diag(covariance(m, base))) : std(m.posterior)
end

"Whether training has found a point, a mean without a covariance. (Laplace's approximation gives such a fit one.)"
is_point(m::BayesianNetwork) = !has_covariance(m.posterior)

function warn_of_point(m)
    is_point(m) && @warn "NaN: method \"$(method(fitted(m)))\" finds a point, which has no covariance: method \"laplace\", or that by default, finds one"
    return nothing
end

"""
    coefnames(m; base = nothing)

Returns the names of the coefficients that [`coef`](@ref) returns. Linear models have "(Intercept)", "x1" and so on, with the output or
the class in front if there are several; family `:heteroscedastic` adds "log noise precision". Networks have names such as
"layer0.weight[2,1]": the weight of the second output and the first input of the first layer.

# Examples
```julia
Dict(zip(coefnames(m), coef(m)))
```
"""
function coefnames(m::BayesianNetwork; base = nothing)
    place = base === nothing ? nothing : base_class(m, base)
    is_linear(m) || return [name for block in blocks(fitted(m).model) for name in element_names(block)]
    names = [m.settings.bias ? ["(Intercept)"] : String[]; ["x$j" for j in 1:ninputs(fitted(m).model)]]
    heads = output_heads(m)
    place === nothing || deleteat!(heads, place)
    return [string(head, name) for head in heads for name in names]
end

"Returns the beginnings of the names of coefficients, one for each output."
output_heads(m) = heads_of(fitted(m).model, m.classes)
function heads_of(model, classes)
    heads = likelihood(model) === :categorical && classes !== nothing ? ["$class: " for class in classes] :
            nmeans(model) == 1 ? [""] : ["y$c: " for c in 1:nmeans(model)]
    return likelihood(model) === :heteroscedastic ? [heads; heads .* "log noise precision: "] : heads
end

function element_names(block)
    rows, columns = block.size
    columns == 1 && endswith(block.name, "bias") && return ["$(block.name)[$i]" for i in 1:rows]
    return ["$(block.name)[$i,$j]" for i in 1:rows for j in 1:columns]
end

"""
The map from parameters w (C x d, row by row), b (C) of f = t (w (x - m) / s + b) + a to intercepts and slopes of f; with a base class
to their contrasts.
"""
function coefficient_map(m::BayesianNetwork, base = nothing)
    model = fitted(m).model
    d, C, bias = ninputs(model), noutputs(model), m.settings.bias
    scaled, (scale, shift) = standardization(model), output_units(model)
    slopes = scale ./ scaled.input_scale'  # C x d
    A, constant, K = zeros(C * (d + bias), C * (d + bias)), zeros(C * (d + bias)), d + bias
    for c in 1:C, j in 1:d
        A[(c-1)*K+bias+j, (c-1)*d+j] = slopes[c, j]
        bias && (A[(c-1)*K+1, (c-1)*d+j] = -slopes[c, j] * scaled.input_mean[j])
    end
    for c in 1:(bias ? C : 0)
        A[(c-1)*K+1, C*d+c] = scale[c]
        constant[(c-1)*K+1] = shift[c]
    end
    base === nothing && return A, constant
    place = base_class(m, base)
    rows(c) = (c-1)*K+1:c*K
    of_base, others = rows(place), reduce(vcat, [collect(rows(c)) for c in 1:C if c != place])
    repeated = repeat(of_base, C - 1)
    return A[others, :] .- A[repeated, :], constant[others] .- constant[repeated]
end

"Scale t and shift a of each output. Log noise precisions are above that of the model."
function output_units(model)
    scaled = standardization(model)
    likelihood(model) === :heteroscedastic || return scaled.target_scale, scaled.target_mean
    return [scaled.target_scale; ones(ntargets(model))],
        [scaled.target_mean; zeros(ntargets(model)) .+ log.(noise_precision(model))]
end
