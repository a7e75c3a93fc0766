"""
    Model(sizes; activation = :relu, likelihood = :gaussian, bias = true,
          dtype = Float64)

Creates a fully connected network, or a generalised linear model if `sizes` has two numbers. `sizes` are the numbers of inputs, of
units in each hidden layer, and of outputs.

- `activation`: `:identity`, `:relu`, `:leaky_relu`, `:elu`, `:gelu`, `:tanh`, `:sigmoid`, `:softplus` or `:swish`
- `likelihood`: `:gaussian`; `:bernoulli` (targets are 0 or 1, outputs are logits); `:categorical` (one column of class numbers
  from 0 to C - 1); `:poisson` (targets are counts, outputs are log rates); `:heteroscedastic` (real numbers with two outputs
  for each target: the mean, and the log precision of the noise); `:student_t` (real numbers with outliers); `:probit` and
  `:cloglog` (other links for 0 and 1); `:negative_binomial` (counts that vary more) and `:gamma` (positive numbers), both with log
  means; or `:ordinal` (levels 0, 1, ..., see [`set_levels!`](@ref))
- `bias`: whether layers have biases
- `dtype`: the arithmetic, `Float64` or `Float32`

The parameters form one vector. For each layer it holds the weight matrix, row by row, and then the bias ([`blocks`](@ref)).

See also [`Model(outputs, gradients)`](@ref) for custom models.

# Examples
```julia
network = Model((6, 50, 1); activation = :tanh)
nparameters(network)  # 401
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

"""
    Model(description::AbstractString; likelihood = :gaussian, dtype = Float64)

Creates a network from a description of its layers, one in each line or separated by semicolons. Layers for tables are `input 6`,
`dense 50`, `relu`, `dropout 0.1`, `batchnorm`, and `residual` ... `shortcut` ... `end`. Layers for images are for example
`input 3 32 32` (channels, rows, columns), `conv 16 5` and `maxpool 2`. [`network_description`](@ref) returns published networks.

# Examples
```julia
residual = Model("input 6; dense 20; tanh; residual; dense 20; tanh; end; dense 1")
nparameters(residual)  # 581
```
"""
function Model(description::AbstractString; likelihood = :gaussian, dtype = Float64)
    return Model(create(bdl_model) do out
        LibBDL.bdl_model_create_network(float_number(dtype), description, number(LIKELIHOODS, likelihood), out)
    end)
end

"""
    copy(model)

Returns an independent copy with the same layers, noise and standardisation; `deepcopy` does the same. The copy of a custom model
calls the same functions.

# Examples
```julia
before = copy(model)
set_noise!(model; sd = 0.5)
noise_precision(before) == noise_precision(model)  # false
```
"""
function Base.copy(model::Model)
    h = handle(model)
    return Model(create(out -> LibBDL.bdl_model_copy(h, out), bdl_model, h.keep))
end

"""
    description(model)

Returns the layers as text, which `Model(description)` reads. A custom model has no description and throws an error.

# Examples
```julia
print(description(Model((6, 50, 1))))
```
"""
function description(model::Model)
    text = Ref{Ptr{UInt8}}(C_NULL)
    check(LibBDL.bdl_model_description(alive(model), text))
    return unsafe_string(text[])
end

function layer_widths(sizes, what = "sizes")
    (sizes isa Union{Tuple,AbstractVector} && all(width -> width isa Integer, sizes)) ||
        throw(InvalidArgumentError("$what is $(brief(sizes)); it must be a tuple or vector of whole numbers"))
    return Int64[width for width in sizes]
end

"""
    nparameters(model)

Returns D, the number of parameters.

# Examples
```julia
nparameters(Model((6, 50, 1)))  # 401
```
"""
nparameters(model::Model) = Int(LibBDL.bdl_model_parameters(alive(model)))

"""
    ninputs(model)

Returns the number of columns of X, without offsets.

# Examples
```julia
ninputs(Model((6, 50, 1)))  # 6
```
"""
ninputs(model::Model) = Int(LibBDL.bdl_model_inputs(alive(model)))

"""
    noutputs(model)

Returns C, the number of outputs of the model's function.

# Examples
```julia
noutputs(Model((6, 50, 1)))  # 1
```
"""
noutputs(model::Model) = Int(LibBDL.bdl_model_outputs(alive(model)))

"""
    ntargets(model)

Returns the number of columns of Y that the likelihood expects, without the weight: 1 for `:categorical`, half of the outputs for `:heteroscedastic`,
else C.

# Examples
```julia
ntargets(Model((6, 50, 3); likelihood = :categorical))  # 1
```
"""
ntargets(model::Model) = Int(LibBDL.bdl_model_targets(alive(model)))

"Columns of a prediction of y: the outputs, or the targets of a heteroscedastic model."
nmeans(model::Model) = likelihood(model) === :heteroscedastic ? ntargets(model) : noutputs(model)

"Number of columns of the means of y: one for each class or level if y is one of them."
nmoments(model::Model) = likelihood(model) === :ordinal ? levels(model) : nmeans(model)

"""
    dtype(model)
    dtype(posterior)

Returns `Float64` or `Float32`: the arithmetic, and the element type of results.

# Examples
```julia
dtype(Model((6, 50, 1); dtype = Float32))  # Float32
```
"""
dtype(model::Model) = dtype_of(LibBDL.bdl_model_dtype(alive(model)))

"""
    likelihood(model)

Returns `:gaussian`, `:bernoulli`, `:categorical`, `:poisson`, `:heteroscedastic`, `:student_t`, `:probit`, `:cloglog`, `:negative_binomial`,
`:gamma` or `:ordinal`.

# Examples
```julia
likelihood(Model((6, 50, 1)))  # :gaussian
```
"""
likelihood(model::Model) = symbol(LIKELIHOODS, LibBDL.bdl_model_likelihood(alive(model)))

"""
    activation(model)

Returns the activation as a symbol, `:identity` if there is none. The result is `nothing` for networks with several activations
and for custom models.

# Examples
```julia
activation(Model((6, 50, 1)))  # :relu
```
"""
activation(model::Model) = symbol(ACTIVATIONS, LibBDL.bdl_model_activation(alive(model)))

"""
    blocks(model)

Returns where the weights and biases are in the vector of parameters: `(name, range, size)` of each block. The values of a block
lie row by row: `permutedims(reshape(theta[b.range], reverse(b.size)))` is the weight matrix.

# Examples
```julia
[b.name => b.range for b in blocks(Model((6, 50, 1)))]
```
"""
function blocks(model::Model)
    found = NamedTuple{(:name, :range, :size),Tuple{String,UnitRange{Int},Tuple{Int,Int}}}[]
    name, offset, rows, cols = Ref{Ptr{UInt8}}(), Ref{Int64}(), Ref{Int64}(), Ref{Int64}()
    h = handle(model)
    for i in 1:LibBDL.bdl_model_block_count(h)
        check(LibBDL.bdl_model_block(h, i - 1, name, offset, rows, cols))
        range = offset[] .+ (1:rows[]*cols[])
        push!(found, (name = GC.@preserve(h, unsafe_string(name[])), range = range, size = (Int(rows[]), Int(cols[]))))
    end
    return found
end

function describe(io::IO, model::Model)
    widths = activation(model) === nothing ? "own function" : "network, $(activation(model))"
    print(io, "Model($widths: $(ninputs(model)) inputs, $(noutputs(model)) outputs, $(nparameters(model)) parameters, ",
        "$(likelihood(model)), $(dtype(model)))")
end
