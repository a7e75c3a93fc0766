# Estimators: settings first, data later. Both are one type, whose parameter says what is made of the settings.

"The type of `BayesianMLP`, `BayesianConv` and `BayesianGLM`: settings and, once fitted, an optimizer with its model and posterior."
mutable struct BayesianNetwork{Kind}
    settings::NamedTuple
    optimizer::Union{Optimizer,Nothing}
    classes::Union{AbstractVector,Nothing}
    vector::Bool  # y was one
    observations::Int
    others::Vector{BayesianNetwork{Kind}}  # the members of an ensemble after the first
    leverages::Matrix{Float64}  # of rows that it was fitted to: as they are, as if each had been left out, and weights if they have some
    weights::Union{Vector{Float64},Nothing}  # of the rows of the last fit
    function BayesianNetwork{Kind}(settings::NamedTuple) where {Kind}
        m = new{Kind}(settings, nothing, nothing, false, 0, BayesianNetwork{Kind}[], no_leverages(), nothing)
        foreach(name -> check_is_option(m, String(name)), keys(settings.options))
        return m
    end
end

"""
    fit(BayesianMLP, X, y; hidden = (50,), activation = :relu, likelihood = :auto,
        noise = :auto, rank = nothing, method = nothing, posterior = nothing,
        prior = nothing, dropout = 0.1, epochs = 100, standardize = true,
        dtype = Float64, seed = 1, samples = 500, members = 1,
        weights = nothing, offset = nothing, progress = isinteractive(), options...)
    BayesianMLP(; the same keywords but weights, offset and progress)

Fits a Bayesian neural network. X is n x d with an example in each row; y is a vector, or a matrix of several targets. Targets and
predictions are in the units of your data; with `standardize` the model standardises them internally.

- `hidden`: numbers of units in the hidden layers, or one number
- `activation`: the activation after each hidden layer, see [`Model`](@ref)
- `likelihood`: `:gaussian`, `:bernoulli`, `:categorical` or `:poisson`, or one of those that [`Model`](@ref) lists; `:auto` takes numbers as `:gaussian`, two labels (`Bool`,
  strings, symbols ...) as `:bernoulli` and more labels as `:categorical`
- `noise`: for numbers, `:gaussian` (the same variance everywhere), `:heteroscedastic` (the network learns the variance as a function of
  the inputs) or `:student_t` (heavy tails, for outliers). `:auto` is `:heteroscedastic`; `:student_t`, with a warning, if a target
  is more than 1000 robust standard deviations from the median; and `:gaussian` for linear models, methods for streams, dropout, batch
  norm, and if options fix the noise
- `method`: one of [`training_methods`](@ref); the default is "slang", and "slang-ggn" for counts and for numbers predicted from images
  ([`suggest_training`](@ref)). A method for streams uses each row once, in order
- `rank`, `posterior`: the rank and the family of the posterior; the default suits the method, for "slang" `:low_rank` with rank 5
  ([`describe_method`](@ref)). Families without a rank refuse one
- `prior`: [`normal`](@ref)(0, 0.5) for each weight (of standardised data), or a `Dict` of such by name: of a layer ("layer0"), of a part
  of it ("layer0.weight"), or of an input ("x1"), for the weights that read it. Or another estimator or a [`Posterior`](@ref), whose mean
  and precision matrix become the prior
- `dropout`: for `posterior = :dropout`, the rate of hidden units, or the rates of inputs and hidden units
- `epochs`: number of passes over the data
- `seed`: seed of training
- `samples`: number of posterior samples for a prediction by Monte Carlo
- `members`: number of networks in a deep ensemble, with the seeds `seed`, `seed + 1` ... Predictions average over them. The first is `m`
  itself, the others are in `m.others`. Functions of one posterior use the first; [`save`](@ref) is an error
- `weights`: a number for each row: a row of weight 2 counts as if it stood there twice, a row of weight 0 as if it did not
- `offset`: numbers that are added to the outputs, a vector, or a matrix with a column for each output
- `options...`: options of the [`Optimizer`](@ref), such as `learning_rate`

With `hidden = ()` it is a generalised linear model with the defaults and coefficients of [`BayesianGLM`](@ref).

Then call [`predict`](@ref), [`score`](@ref) or [`loglikelihood`](@ref), or [`fit!`](@ref) to continue. The parts are `m.model`,
`m.posterior` and `m.optimizer`. `fit!(BayesianMLP(), X, y)` trains an estimator that was created without data; after Ctrl-C it is partly
trained and usable. Estimators can be copied (`deepcopy`) and serialized.

# Examples
```julia
network = fit(BayesianMLP, X, y; hidden = (20, 20), seed = 3, progress = false)
p = predict(network, Xtest[1:3, :]; interval = 0.9)
hcat(p.mean, p.lower, p.upper)
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

"Returns the dropout rates of inputs and hidden units."
known_rates(rate::Real) = (Float64(estimator_default(:input_rate)), Float64(rate))
known_rates(rates) = length(rates) == 2 ? (Float64(first(rates)), Float64(last(rates))) :
    throw(InvalidArgumentError("dropout is $(brief(rates)); it must be a rate, or those of inputs and hidden units"))

"""
    fit(BayesianGLM, X, y; family = :gaussian, intercept = true, method = nothing,
        rank = nothing, posterior = nothing, prior = nothing, epochs = 100,
        standardize = true, dtype = Float64, seed = 1, samples = 500,
        weights = nothing, offset = nothing, progress = isinteractive(), options...)
    BayesianGLM(; the same keywords but weights, offset and progress)

Fits a Bayesian generalised linear model. The coefficients are in the units of your data: [`coef`](@ref), [`vcov`](@ref),
[`stderror`](@ref), [`confint`](@ref).

- `family`: `:gaussian`, `:bernoulli` (logistic), `:categorical` (multinomial), `:poisson`, `:heteroscedastic` (the log noise precision has
  coefficients, too), `:student_t`, `:probit` and `:cloglog` (links for two classes), `:negative_binomial`, `:gamma` (log link) or
  `:ordinal` (cumulative logit, for classes in order: [`cut_points`](@ref))
- `intercept`: whether the model has an intercept
- `prior`: [`normal`](@ref)(0, 2.5) for each slope, or a `Dict` of such by the names of [`coefnames`](@ref), "(Intercept)" too, in the
  units of the data; or as for [`BayesianMLP`](@ref). Other coefficients have the default
- `options...`: options of the [`Optimizer`](@ref); `prior_precision` is the precision of the prior of the coefficients, 1 by default for
  standardised inputs and Gaussian targets. The prior of the intercept is nearly flat
- `weights`: a number for each row: a row of weight 2 counts as if it stood there twice. With family `:bernoulli`, y may be shares of
  successes, from 0 to 1, with the numbers of trials as weights
- `offset`: numbers that are added to the linear predictor: for `:poisson` the log of the exposure

The other keywords are those of [`BayesianMLP`](@ref). By default libbdl finds the best posterior with a full covariance directly
("exact-full"), for up to 1000 parameters and up to 2^25 numbers in X; where one output has more parameters than rows, the covariance has
a low rank ("exact-low-rank"). More than four classes need 10 rows for each parameter. Otherwise it trains in steps, by
"slang-exact-hess" for one output and "slang-ggn" for several, with a full covariance up to 200 parameters and rank 10 beyond.
Predictions are exact for one output.

# Examples
```julia
counts = round.(Int, y)
rates = fit(BayesianGLM, X, counts; family = :poisson, progress = false)
hcat(coef(rates), stderror(rates))

killed, trials = [6, 13, 18], [59, 60, 62]
doses = fit(BayesianGLM, [0.0, 1.0, 2.0], killed ./ trials; family = :bernoulli,
            weights = trials, progress = false)
coef(doses)
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
    fit(BayesianConv, X, y; network = "lenet5", layout = :hwcn, image = nothing,
        likelihood = :auto, noise = :auto, rank = nothing, method = nothing,
        posterior = nothing, prior = nothing, epochs = 40, standardize = true,
        dtype = Float32, seed = 1, samples = 50, members = 1,
        weights = nothing, offset = nothing, progress = isinteractive(), options...)
    BayesianConv(; the same keywords but weights, offset and progress)

Fits a Bayesian neural network that is given by its layers, mostly for images. X is an array of size (rows, columns, channels, n), or
(rows, columns, n) for images with one channel. With `layout = :whcn` it is (columns, rows, channels, n), as in Flux.jl, which libbdl
reads without a copy. Bytes (`UInt8`) stay bytes in memory.

- `network`: the name of a published network ([`networks`](@ref)); or the layers between inputs and outputs,
  `"conv 16 3; relu; maxpool 2; dense 64; relu"`; or a whole description that begins with `input` ([`network_description`](@ref))
- `image`: `(rows, columns, channels)` if X is a matrix whose rows are images, channel by channel and row by row; a matrix without
  `image` holds features
- `standardize`: images have one mean and one scale for each channel

The other keywords are those of [`BayesianMLP`](@ref). Class numbers are numbers: use `likelihood = :categorical` for them.

# Examples
```julia
images = rand(UInt8, 8, 8, 100)
bright = [sum(image) > 64 * 127 for image in eachslice(images; dims = 3)]
conv = fit(BayesianConv, images, bright; network = "conv 4 3; relu; maxpool 2",
           epochs = 10, progress = false)
predict(conv, images[:, :, 1:3]; kind = :prob)
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

Returns the classes of a classifier in the order of the columns of probabilities, or `nothing` for other models.

# Examples
```julia
classes(classifier)
```
"""
classes(m::BayesianNetwork) = (fitted(m); m.classes)

"""
    nobs(m)

Returns the number of examples of the last fit; rows of weight 0 do not count.

# Examples
```julia
nobs(m) == size(X, 1)  # true
```
"""
nobs(m::BayesianNetwork) = (fitted(m); m.observations)

"""
    weights(m)

Returns the weights of the rows of the last fit, or `nothing` if it had none.

# Examples
```julia
weights(m) === nothing  # true
```
"""
weights(m::BayesianNetwork) = (fitted(m); m.weights)

"""
    dof(m)

Returns the number of parameters.

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
