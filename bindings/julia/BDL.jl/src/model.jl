"""
    Model(sizes; activation = :relu, likelihood = :gaussian, bias = true, dtype = Float64)

A multilayer perceptron: `sizes` are the widths of its layers, inputs and outputs included; two of them are a
generalised linear model. Activations: `:identity`, `:relu`, `:leaky_relu`, `:elu`, `:gelu`, `:tanh`, `:sigmoid`,
`:softplus`, `:swish`. Likelihoods: `:gaussian`, `:bernoulli` (targets 0 or 1, outputs are logits), `:categorical` (one
column of class numbers 0 to C - 1), `:poisson` (counts, outputs are log rates).

Parameters form one vector: layer by layer the weight matrix, row by row, and then the bias ([`blocks`](@ref)).

See also [`Model(outputs, gradients)`](@ref) for models of your own.

# Examples
```julia
model = Model((6, 50, 1); activation = :tanh)
nparameters(model)  # 401
```
"""
struct Model <: Owner
    handle::bdl_model
    Model(handle::bdl_model) = new(handle)
end

function Model(sizes; activation = :relu, likelihood = :gaussian, bias::Bool = true, dtype = Float64)
    widths = layer_widths(sizes)
    return Model(create(bdl_model) do out
        LibBDL.bdl_model_create_mlp(float_number(dtype), widths, length(widths), number(ACTIVATIONS, activation), bias,
            number(LIKELIHOODS, likelihood), out)
    end)
end

function layer_widths(sizes)
    (sizes isa Union{Tuple,AbstractVector} && all(width -> width isa Integer, sizes)) ||
        throw(InvalidArgumentError("sizes is $(repr(sizes)); it must be a tuple or vector of whole numbers"))
    return Int64[width for width in sizes]
end

"""
    nparameters(model)

Number of parameters D.

# Examples
```julia
nparameters(Model((6, 50, 1)))  # 401
```
"""
nparameters(model::Model) = Int(LibBDL.bdl_model_parameters(alive(model)))

"""
    ninputs(model)

Columns of X.

# Examples
```julia
ninputs(Model((6, 50, 1)))  # 6
```
"""
ninputs(model::Model) = Int(LibBDL.bdl_model_inputs(alive(model)))

"""
    noutputs(model)

Number of outputs C of the model's function.

# Examples
```julia
noutputs(Model((6, 50, 1)))  # 1
```
"""
noutputs(model::Model) = Int(LibBDL.bdl_model_outputs(alive(model)))

"""
    ntargets(model)

Columns of Y that the likelihood expects: 1 for `:categorical`, else C.

# Examples
```julia
ntargets(Model((6, 50, 3); likelihood = :categorical))  # 1
```
"""
ntargets(model::Model) = Int(LibBDL.bdl_model_targets(alive(model)))

"""
    dtype(model)
    dtype(posterior)

`Float64` or `Float32`: the arithmetic, and the element type of results.

# Examples
```julia
dtype(Model((6, 50, 1); dtype = Float32))  # Float32
```
"""
dtype(model::Model) = dtype_of(LibBDL.bdl_model_dtype(alive(model)))

"""
    likelihood(model)

`:gaussian`, `:bernoulli`, `:categorical` or `:poisson`.

# Examples
```julia
likelihood(Model((6, 50, 1)))  # :gaussian
```
"""
likelihood(model::Model) = symbol(LIKELIHOODS, LibBDL.bdl_model_likelihood(alive(model)))

"""
    activation(model)

The activation as a symbol, `nothing` for a model of your own.

# Examples
```julia
activation(Model((6, 50, 1)))  # :relu
```
"""
activation(model::Model) = symbol(ACTIVATIONS, LibBDL.bdl_model_activation(alive(model)))

"""
    blocks(model)

Where the weights and biases are in the vector of parameters: `(name, range, size)` of each block. The values of a block
lie row by row: `permutedims(reshape(theta[b.range], reverse(b.size)))` is the weight matrix.

# Examples
```julia
[b.name for b in blocks(Model((6, 50, 1)))]  # ["layer0.weight", "layer0.bias", "layer1.weight", "layer1.bias"]
```
"""
function blocks(model::Model)
    found = NamedTuple{(:name, :range, :size),Tuple{String,UnitRange{Int},Tuple{Int,Int}}}[]
    name, offset, rows, cols = Ref{Ptr{UInt8}}(), Ref{Int64}(), Ref{Int64}(), Ref{Int64}()
    total, h = nparameters(model), handle(model)
    while isempty(found) || last(last(found).range) < total
        check(LibBDL.bdl_model_block(h, length(found), name, offset, rows, cols))
        range = offset[] .+ (1:rows[]*cols[])
        push!(found, (name = unsafe_string(name[]), range = range, size = (Int(rows[]), Int(cols[]))))
    end
    return found
end

"""
    set_noise!(model; precision, sd, covariance)

Gaussian noise from one of: `precision` (one number or one per output), standard deviation `sd` likewise, or a full
`covariance` between the outputs (C x C). Training learns precisions from there unless option `learn_noise` is 0, and
never changes a covariance.

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
    noise_precision(model)

Precision (1 / variance) of Gaussian noise: a vector of one shared value or one per output.

# Examples
```julia
1 ./ sqrt.(noise_precision(model))  # standard deviations
```
"""
function noise_precision(model::Model)
    each = Vector{Float64}(undef, noutputs(model))
    h = handle(model)
    # A shared precision is read into one value only, one per output into as many.
    length(each) > 1 && LibBDL.bdl_model_get_noise_precision(h, look_row(each)) == LibBDL.BDL_OK && return each
    return filled(view -> LibBDL.bdl_model_get_noise_precision(h, view), Vector{Float64}(undef, 1), look_row)
end

"""
    noise_covariance(model)

Covariance of Gaussian noise between the outputs, C x C.

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
    standardize!(model, X, Y = nothing)

Standardises inside the model, by means and standard deviations of the columns of X and, for Gaussian targets, of Y:
data, predictions and noise stay in their own units everywhere. To be done before training.

# Examples
```julia
model = standardize!(Model((6, 50, 1)), X, y)
```
"""
function standardize!(model::Model, X, Y = nothing)
    check(LibBDL.bdl_model_standardize(unused(handle(model)), look(X), look_or_none(Y)))
    return model
end

"""
    set_standardization!(model; input_mean, input_scale, target_mean, target_scale)

As [`standardize!`](@ref), with given values; 0 and 1 where they are not given.

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

Means and scales of inputs and targets inside the model: `(input_mean, input_scale, target_mean, target_scale)`.

# Examples
```julia
standardization(model).input_mean
```
"""
function standardization(model::Model)
    d, C = ninputs(model), noutputs(model)
    found = (input_mean = zeros(d), input_scale = zeros(d), target_mean = zeros(C), target_scale = zeros(C))
    check(LibBDL.bdl_model_get_standardization(handle(model), map(look_row, Tuple(found))...))
    return found
end

function describe(io::IO, model::Model)
    widths = activation(model) === nothing ? "own function" : "network, $(activation(model))"
    print(io, "Model($widths: $(ninputs(model)) inputs, $(noutputs(model)) outputs, $(nparameters(model)) parameters, ",
        "$(likelihood(model)), $(dtype(model)))")
end
