# A model's noise, classes and standardisation, in the data's units.

"""
    set_noise!(model; precision, sd, covariance)

Sets Gaussian noise from one of three keywords: `precision` (one number, or one for each output), the standard deviation `sd`
likewise, or a full `covariance` between the outputs (C x C). Training learns precisions from these values on, unless option
`learn_noise` is 0. Training never changes a covariance.

# Examples
```julia
set_noise!(model; sd = 0.1)
```
"""
function set_noise!(model::Model; precision = nothing, sd = nothing, covariance = nothing)
    count(!isnothing, (precision, sd, covariance)) == 1 ||
        throw(InvalidArgumentError("set_noise! takes one of precision, sd and covariance"))
    h = unused(handle(model))
    if covariance !== nothing
        check(LibBDL.bdl_model_set_noise_covariance(h, look(covariance isa Real ? [covariance] : covariance)))
    else
        check(LibBDL.bdl_model_set_noise_precision(h, look_row(precision === nothing ? inv.(sd) .^ 2 : precision)))
    end
    return model
end

"""
    degrees_of_freedom(model)

Returns the degrees of freedom of Student-t noise.

# Examples
```julia
degrees_of_freedom(Model((6, 4, 1); likelihood = :student_t))
```
"""
function degrees_of_freedom(model::Model)
    degrees = Ref{Float64}(NaN)
    check(LibBDL.bdl_model_get_degrees_of_freedom(handle(model), degrees))
    return degrees[]
end

"""
    set_degrees_of_freedom!(model, degrees)

Sets the degrees of freedom of Student-t noise. Training learns them from this value on, unless option
`learn_degrees_of_freedom` is 0.

# Examples
```julia
set_degrees_of_freedom!(Model((6, 4, 1); likelihood = :student_t), 4)
```
"""
function set_degrees_of_freedom!(model::Model, degrees::Real)
    check(LibBDL.bdl_model_set_degrees_of_freedom(unused(handle(model)), degrees))
    return model
end

"""
    shape(model)

Returns the shape of a `:negative_binomial` y, of variance mean + mean^2 / shape, or of a `:gamma` y, of variance mean^2 / shape.

# Examples
```julia
shape(Model((6, 1); likelihood = :gamma))  # 1.0
```
"""
function shape(model::Model)
    value = Ref{Float64}(NaN)
    check(LibBDL.bdl_model_get_shape(handle(model), value))
    return value[]
end

"""
    set_shape!(model, shape)

Sets the shape of a `:negative_binomial` or `:gamma` model. Training learns it from this value on, unless option `learn_shape` is 0;
without one it starts from the moments of y.

# Examples
```julia
set_shape!(Model((6, 1); likelihood = :negative_binomial), 2.5)
```
"""
function set_shape!(model::Model, shape::Real)
    check(LibBDL.bdl_model_set_shape(unused(handle(model)), shape))
    return model
end

"""
    levels(model)

Returns the number of levels of an `:ordinal` model, 0 for others.

# Examples
```julia
levels(Model((6, 1); likelihood = :ordinal))  # 2
```
"""
levels(model::Model) = Int(LibBDL.bdl_model_level_count(alive(model)))

"""
    set_levels!(model, levels)

Sets the number of levels of an `:ordinal` model, and forgets its cut points.

# Examples
```julia
set_levels!(Model((6, 1); likelihood = :ordinal), 4)
```
"""
function set_levels!(model::Model, levels::Integer)
    check(LibBDL.bdl_model_set_levels(unused(handle(model)), levels))
    return model
end

"""
    cut_points(model)

Returns the ascending cut points c of an `:ordinal` model: P(y <= k) = 1 / (1 + exp(f - c[k + 1])) for the levels k = 0, 1, ...

# Examples
```julia
cut_points(set_levels!(Model((6, 1); likelihood = :ordinal), 3))
```
"""
function cut_points(model::Model)
    cuts = Matrix{Float64}(undef, 1, max(levels(model) - 1, 1))
    check(LibBDL.bdl_model_get_cut_points(handle(model), look(cuts)))
    return vec(cuts)
end

"""
    set_cut_points!(model, cut_points)

Sets the cut points of an `:ordinal` model, and with them its levels. Training learns them from these on, unless option
`learn_shape` is 0; a model with biases keeps their mean, which is the place of its intercept.

# Examples
```julia
set_cut_points!(Model((6, 1); likelihood = :ordinal), [-1.0, 0.5])
```
"""
function set_cut_points!(model::Model, cut_points::AbstractVector{<:Real})
    check(LibBDL.bdl_model_set_cut_points(unused(handle(model)), look_row(cut_points)))
    return model
end

"""
    classes(model)

Returns the class numbers, from 0, that a categorical model can predict: all outputs, or those of [`set_classes!`](@ref).

# Examples
```julia
classes(Model((6, 3); likelihood = :categorical))  # [0, 1, 2]
```
"""
function classes(model::Model)
    numbers = Matrix{Float64}(undef, 1, LibBDL.bdl_model_class_count(alive(model)))
    check(LibBDL.bdl_model_get_classes(handle(model), look(numbers)))
    return Int.(vec(numbers))
end

"""
    set_classes!(model, numbers)

Restricts a categorical model to some classes, given by their numbers from 0; `nothing` means all outputs. The other classes have
probability 0 and take no part in training. In continual learning, one output layer can so hold the classes of several tasks.

# Examples
```julia
set_classes!(Model((6, 4); likelihood = :categorical), [2, 3])
```
"""
function set_classes!(model::Model, numbers)
    check(LibBDL.bdl_model_set_classes(unused(handle(model)), look_row_or_none(numbers)))
    return model
end

"""
    noise_precision(model)

Returns the precision (1 / variance) of Gaussian noise: a vector with one shared value, or with one value for each output.

# Examples
```julia
1 ./ sqrt.(noise_precision(model))  # standard deviations
```
"""
function noise_precision(model::Model)
    each = Vector{Float64}(undef, ntargets(model))
    h = handle(model)
    # A shared precision is read into one value only, one per output into as many.
    length(each) > 1 && LibBDL.bdl_model_get_noise_precision(h, look_row(each)) == LibBDL.BDL_OK && return each
    return filled(view -> LibBDL.bdl_model_get_noise_precision(h, view), Vector{Float64}(undef, 1), look_row)
end

"""
    noise_covariance(model)

Returns the covariance of Gaussian noise between the outputs, C x C.

# Examples
```julia
sqrt.(diag(noise_covariance(model)))  # standard deviations
```
"""
function noise_covariance(model::Model)
    C = noutputs(model)
    return filled(view -> LibBDL.bdl_model_get_noise_covariance(handle(model), view), Matrix{Float64}(undef, C, C))
end

"""
    noise_degrees_of_freedom(model)

Returns the degrees of freedom of the estimate of Gaussian noise, one for each target: the number of rows less the effective number of
parameters where "exact-full" has learned the noise of a linear model, and Inf elsewhere. Predictions and coefficients have Student's
t distribution by them.

# Examples
```julia
noise_degrees_of_freedom(model)
```
"""
function noise_degrees_of_freedom(model::Model)
    degrees = Vector{Float64}(undef, ntargets(model))
    return filled(view -> LibBDL.bdl_model_noise_degrees_of_freedom(handle(model), view), degrees, look_row)
end

"""
    standardize!(model, X, Y = nothing)

Sets the standardisation inside the model to the means and standard deviations of the columns of X and, for Gaussian targets, of Y.
Data, predictions and noise keep their units. Call it before training.

# Examples
```julia
scaled = standardize!(Model((6, 50, 1)), X, y)
standardization(scaled).target_mean == [mean(y)]
```
"""
function standardize!(model::Model, X, Y = nothing)
    check(LibBDL.bdl_model_standardize(unused(handle(model)), look(X), look_or_none(Y)))
    return model
end

"""
    set_standardization!(model; input_mean, input_scale, target_mean, target_scale)

Sets the standardisation inside the model to given values, as [`standardize!`](@ref) does from data. Means that you do not give are
0, and scales are 1.

# Examples
```julia
set_standardization!(Model((3, 1)); input_mean = [1, 2, 3], target_scale = 10)
```
"""
function set_standardization!(model::Model; input_mean = nothing, input_scale = nothing, target_mean = nothing,
    target_scale = nothing)
    check(LibBDL.bdl_model_set_standardization(unused(handle(model)), map(look_row_or_none,
        (input_mean, input_scale, target_mean, target_scale))...))
    return model
end

"""
    standardization(model)

Returns the means and scales of inputs and targets inside the model: `(input_mean, input_scale, target_mean, target_scale)`.

# Examples
```julia
standardization(model).input_mean
```
"""
function standardization(model::Model)
    d, C = ninputs(model), nmeans(model)
    found = (input_mean = zeros(d), input_scale = zeros(d), target_mean = zeros(C), target_scale = zeros(C))
    check(LibBDL.bdl_model_get_standardization(handle(model), map(look_row, Tuple(found))...))
    return found
end
