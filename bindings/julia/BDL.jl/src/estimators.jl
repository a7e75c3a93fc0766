# Estimators: settings first, data later. Both are one type, whose parameter says what is made of the settings.

"What `BayesianMLP`, `BayesianConv` and `BayesianGLM` are: settings and, once fitted, an optimizer with its model and posterior."
mutable struct BayesianNetwork{Kind}
    settings::NamedTuple
    optimizer::Union{Optimizer,Nothing}
    classes::Union{AbstractVector,Nothing}
    vector::Bool  # y was one
    observations::Int
    others::Vector{BayesianNetwork{Kind}}  # the members of an ensemble after the first
    leverages::Matrix{Float64}  # of rows that it was fitted to: as they are, and as if each had been left out
    function BayesianNetwork{Kind}(settings::NamedTuple) where {Kind}
        m = new{Kind}(settings, nothing, nothing, false, 0, BayesianNetwork{Kind}[], no_leverages())
        foreach(name -> check_is_option(m, String(name)), keys(settings.options))
        return m
    end
end

"""
    fit(BayesianMLP, X, y; hidden = (50,), activation = :relu, likelihood = :auto, noise = :auto, rank = nothing, method = nothing,
        posterior = nothing, prior = nothing, dropout = 0.1, epochs = 100, standardize = true, dtype = Float64, seed = 1, samples = 500,
        members = 1, progress = isinteractive(), options...)
    BayesianMLP(; the same keywords but progress)

A Bayesian neural network. X is n x d, one example per row; y is a vector, or a matrix of several targets. Targets and
predictions are in their own units: with `standardize` the network sees standardised ones.

- `likelihood`: `:gaussian`, `:bernoulli`, `:categorical`, `:poisson`; `:auto` takes real numbers, integers included, as
  `:gaussian`, and labels (`Bool`, strings, symbols, ...) as `:bernoulli` if there are two, else `:categorical`
- `noise`: of real numbers, `:gaussian` (equal everywhere), `:heteroscedastic` (Gaussian with a variance that the network
  learns as a function of the inputs) or `:student_t` (learned degrees of freedom, for outliers); `:auto` is `:heteroscedastic` with
  hidden units, but `:student_t`, with a warning, if a target is more than 1000 robust standard deviations from the median, and
  `:gaussian` for linear models, methods for streams, dropout, batch norm, a whole network from `input` on, and
  where options fix the noise; with a `prior` as that has it
- `method`: one of [`training_methods`](@ref); by default "slang", and "slang-ggn" for counts and numbers of images
  ([`suggest_training`](@ref)). Those for streams see each row once, in order, also block by block in calls of `fit!`
- `hidden`: widths of the hidden layers, or one number
- `rank`: of the posterior's precision, 5 unless it is given; `posterior` names another family ([`describe_method`](@ref)) than
  the first that the method is for. A rank is refused for families without one
- `dropout`: of a dropout posterior, the rate of hidden units, or those of inputs and hidden units; refused for others
- `prior`: another estimator, whose posterior (mean and whole precision) and standardisation are used, or a
  `Posterior`
- `samples`: posterior draws of each prediction
- `members`: number of fits, with the seeds seed, seed + 1, ..., over which predictions average. The first is `m` itself, the
  others are `m.others`; what is of one posterior is the first's, and [`save`](@ref) is refused
- `options...`: of the [`Optimizer`](@ref), such as `learning_rate`

Without hidden units, `hidden = ()`, it is a generalised linear model, with defaults and coefficients ([`coef`](@ref)) of
[`BayesianGLM`](@ref).

Then [`predict`](@ref), [`score`](@ref), [`loglikelihood`](@ref), `fit!` to continue, `rand(m.posterior, n)`; the parts
are `m.model`, `m.posterior`, `m.optimizer`. Made without data, `fit!(BayesianMLP(), X, y)` trains it: after Ctrl-C it is
partly trained and usable. It can be serialized and copied (`deepcopy`).

# Examples
```julia
m = fit(BayesianMLP, X, y; hidden = (50, 50), seed = 3)
predict(m, Xnew; interval = 0.9)
```
"""
const BayesianMLP = BayesianNetwork{:mlp}

function BayesianNetwork{:mlp}(; hidden = (estimator_default(:hidden),), activation = :relu, likelihood = :auto,
    noise = :auto, rank::Union{Integer,Nothing} = nothing, method = nothing, posterior = nothing, prior = nothing,
    dropout = estimator_default(:hidden_rate), epochs::Integer = estimator_default(:epochs), standardize::Bool = true,
    dtype = Float64, seed::Integer = estimator_default(:seed), samples::Integer = estimator_default(:samples),
    members::Integer = 1, options...)
    widths = layer_widths(hidden isa Integer ? (hidden,) : hidden, "hidden")
    return BayesianNetwork{:mlp}((hidden = widths, activation = activation,
        likelihood = known_likelihood(likelihood), noise = known_noise(noise), rank = rank, method = method,
        epochs = epochs, standardize = standardize, dtype = dtype, seed = seed, samples = samples, posterior = posterior,
        prior = prior, dropout = known_rates(dropout), members = known_members(members, isempty(widths)), bias = true, options = values(options)))
end

"At least one; a linear model has one optimum for all seeds."
function known_members(members, is_linear = false)
    members >= 1 || throw(InvalidArgumentError("members is $members; it must be at least 1"))
    members == 1 || !is_linear ||
        throw(UnsupportedError("a generalised linear model has one optimum for all seeds: members is $members; it must be 1"))
    return Int(members)
end

"Of inputs and hidden units."
known_rates(rate::Real) = (Float64(estimator_default(:input_rate)), Float64(rate))
known_rates(rates) = length(rates) == 2 ? (Float64(first(rates)), Float64(last(rates))) :
    throw(InvalidArgumentError("dropout is $(brief(rates)); it must be a rate, or those of inputs and hidden units"))

"""
    fit(BayesianGLM, X, y; family = :gaussian, intercept = true, method = nothing, rank = nothing, posterior = nothing, prior = nothing,
        epochs = 100, standardize = true, dtype = Float64, seed = 1, samples = 500, progress = isinteractive(), options...)
    BayesianGLM(; the same keywords but progress)

A Bayesian generalised linear model with family `:gaussian`, `:bernoulli` (logistic), `:categorical` (multinomial),
`:poisson`, `:heteroscedastic` (the noise has coefficients of its own) or `:student_t`. By default the best posterior with full covariance is found exactly ("exact-full"), for one output, up to 1000
parameters and up to 2^25 numbers in X; else it is learned by steps, of "slang-exact-hess" for one output and "slang-ggn"
for more, with full covariance up to 200 parameters and rank 10 for more. The prior of the coefficients is N(0, 1) (of standardised
inputs, and targets if Gaussian), option `prior_precision` changes it; that of the intercept is wide. Predictions are
exact for one output.

[`coef`](@ref), [`vcov`](@ref), [`stderror`](@ref), [`confint`](@ref) are in the data's units, the intercept first.

# Examples
```julia
m = fit(BayesianGLM, X, counts; family = :poisson)
hcat(coef(m), stderror(m))
```
"""
const BayesianGLM = BayesianNetwork{:glm}

function BayesianNetwork{:glm}(; family = :gaussian, intercept::Bool = true, method = nothing,
    rank::Union{Integer,Nothing} = nothing, posterior = nothing, prior = nothing, epochs::Integer = estimator_default(:epochs),
    standardize::Bool = true, dtype = Float64, seed::Integer = estimator_default(:seed),
    samples::Integer = estimator_default(:samples), options...)
    return BayesianNetwork{:glm}((hidden = Int64[], activation = :identity, likelihood = known_likelihood(family, "family"),
        noise = :gaussian, rank = rank, method = method, epochs = epochs, standardize = standardize, dtype = dtype, seed = seed,
        samples = samples, posterior = posterior, prior = prior, dropout = known_rates(estimator_default(:hidden_rate)),
        members = 1, bias = intercept, options = values(options)))
end

"""
    fit(BayesianConv, X, y; network = "lenet5", layout = :hwcn, image = nothing, likelihood = :auto, noise = :auto,
        rank = nothing, method = nothing, posterior = nothing, prior = nothing, epochs = 40, standardize = true,
        dtype = Float32, seed = 1, samples = 50, members = 1, progress = isinteractive(), options...)
    BayesianConv(; the same keywords but progress)

A Bayesian neural network that is given by its layers, of images above all. X is an array of size (rows, columns, channels, n),
or (rows, columns, n) of images of one channel. With `layout = :whcn` it is (columns, rows, channels, n), as Flux has it, which
is read without a copy. Bytes (`UInt8`) are read as they are: they become numbers a minibatch at a time.

- `network`: the name of a published network ([`networks`](@ref)); or the layers between the images and the outputs,
  `"conv 16 3; relu; maxpool 2; dense 64; relu"`; or a whole description, from `input` on ([`network_description`](@ref))
- `image`: `(rows, columns, channels)`, where X is a matrix whose rows are images, channel by channel and row by row; without
  it a matrix holds features
- `standardize`: of images, one mean and one scale for each channel

The other keywords are those of [`BayesianMLP`](@ref). Class numbers are numbers, so `likelihood = :categorical` makes them
classes.

# Examples
```julia
images = rand(UInt8, 8, 8, 100)
bright = [sum(image) > 64 * 127 for image in eachslice(images; dims = 3)]
m = fit(BayesianConv, images, bright; network = "conv 4 3; relu; maxpool 2", epochs = 5, progress = false)
predict(m, images; kind = :prob)
```
"""
const BayesianConv = BayesianNetwork{:conv}

function BayesianNetwork{:conv}(; network = "lenet5", layout = :hwcn, image = nothing, likelihood = :auto, noise = :auto,
    rank::Union{Integer,Nothing} = nothing, method = nothing, posterior = nothing, prior = nothing,
    epochs::Integer = estimator_default(:image_epochs), standardize::Bool = true, dtype = Float32,
    seed::Integer = estimator_default(:seed), samples::Integer = estimator_default(:image_samples),
    members::Integer = 1, options...)
    return BayesianNetwork{:conv}((network = network, layout = known_layout(layout), image = image,
        likelihood = known_likelihood(likelihood), noise = known_noise(noise), rank = rank, method = method, epochs = epochs,
        standardize = standardize, dtype = dtype, seed = seed, samples = samples, posterior = posterior, prior = prior,
        dropout = known_rates(estimator_default(:hidden_rate)), members = known_members(members), options = values(options)))
end

known_likelihood(word, keyword = "likelihood") =
    word in (:auto, "auto") ? :auto : symbol(LIKELIHOODS, number(LIKELIHOODS, word, keyword))
const NOISES = (:auto, :gaussian, :heteroscedastic, :student_t)
known_noise(word) = word in (NOISES..., String.(NOISES)...) ? Symbol(word) :
    throw(InvalidArgumentError("noise is $(brief(word)); it must be :auto, :gaussian, :heteroscedastic or :student_t"))

estimator_name(::BayesianNetwork{:mlp}) = "BayesianMLP"
estimator_name(::BayesianNetwork{:conv}) = "BayesianConv"
estimator_name(::BayesianNetwork{:glm}) = "BayesianGLM"

function Base.getproperty(m::BayesianNetwork, name::Symbol)
    name === :model && return fitted(m).model
    name === :posterior && return fitted(m).posterior
    return getfield(m, name)
end
Base.propertynames(m::BayesianNetwork) = (fieldnames(typeof(m))..., :model, :posterior)

"The optimizer of an estimator that has one."
function fitted(m::BayesianNetwork)
    optimizer = getfield(m, :optimizer)
    optimizer === nothing && throw(InvalidArgumentError("$(estimator_name(m)) has not been fitted"))
    return optimizer
end

"""
    classes(m)

The classes of a classification in the order of the columns of probabilities; `nothing` for other models.

# Examples
```julia
classes(fit(BayesianGLM, X, y .> 0; family = :bernoulli, progress = false))  # [false, true]
```
"""
classes(m::BayesianNetwork) = (fitted(m); m.classes)

"""
    nobs(m)

Number of examples that it was last fitted to.

# Examples
```julia
nobs(m) == size(X, 1)  # true
```
"""
nobs(m::BayesianNetwork) = (fitted(m); m.observations)

"""
    dof(m)

Number of its parameters.

# Examples
```julia
dof(m) == length(m.posterior)  # true
```
"""
dof(m::BayesianNetwork) = length(m.posterior)

function save(path::AbstractString, m::BayesianNetwork)
    optimizer = fitted(m)
    isempty(m.others) || throw(UnsupportedError("a checkpoint holds one posterior, but the estimator has " *
        "$(1 + length(m.others)) members: save them one by one, m.others too"))
    m.classes === nothing || label_type(m.classes) === nothing || set_names!(optimizer.model; classes = m.classes)
    return save(path, optimizer)
end
