"""
    Optimizer(model, posterior, method = "slang-ggn", n; options...)

Creates an optimizer, which trains a posterior by a method. Training changes `posterior` and the noise of the model. `n` is the number
of examples in the whole data set; it weighs the likelihood against the prior. `model` may be `nothing` if you only use
[`step_rows!`](@ref).

[`training_methods`](@ref) lists the methods, and [`options`](@ref) the options, which you give as keywords. `optimizer[:name]` reads an
option, and `optimizer[:name] = value` sets it.

# Examples
```julia
network = Model((6, 50, 1))
posterior = Posterior(network; rank = 5)
trainer = Optimizer(network, posterior, "slang-ggn", size(X, 1);
                    learning_rate = 0.01, seed = 2)
fit!(trainer, X, y; epochs = 10)
```
"""
struct Optimizer <: Owner
    handle::bdl_optimizer
    model::Union{Model,Nothing}
    posterior::Posterior
    Optimizer(handle::bdl_optimizer, model, posterior) = new(handle, model, posterior)
end

function Optimizer(model::Union{Model,Nothing}, q::Posterior, method, n::Integer; options...)
    m = model === nothing ? Ptr{bdl_model}(C_NULL) : handle(model)
    h = create(bdl_optimizer, (handle(model), handle(q))) do out
        LibBDL.bdl_optimizer_create(m, handle(q), String(method), n, out)
    end
    return set!(Optimizer(h, model, q); options...)
end
Optimizer(model::Union{Model,Nothing}, q::Posterior, n::Integer; options...) =
    Optimizer(model, q, "slang-ggn", n; options...)

"The handles that a call which trains needs for itself: the optimizer's own, those that it changes, its ranks'."
function trained(optimizer::Optimizer)
    own = (handle(optimizer), handle(optimizer.posterior))
    model = optimizer.model === nothing ? () : (handle(optimizer.model),)
    ranks = called_by(optimizer).ranks
    return ranks === nothing ? (own..., model...) : (own..., model..., ranks)
end

"Returns the objects that the library calls back for an optimizer: a source of draws and a communicator, or nothing."
function called_by(optimizer::Optimizer)
    keep = handle(optimizer).keep
    return keep isa Tuple && length(keep) == 4 ? (draws = keep[3], ranks = keep[4]) : (draws = nothing, ranks = nothing)
end

function keep_called!(optimizer::Optimizer; draws = called_by(optimizer).draws, ranks = called_by(optimizer).ranks)
    handle(optimizer).keep = (handle(optimizer.model), handle(optimizer.posterior), draws, ranks)
    return optimizer
end

"""
    training_methods()

Returns the names of all methods that an [`Optimizer`](@ref) can use.

# Examples
```julia
"slang-ggn" in training_methods()  # true
```
"""
training_methods() = String[LibBDL.bdl_method_name(i - 1) for i in 1:LibBDL.bdl_method_count()]

"""
    describe_method(name)

Returns a description of a method: `(name, families, stream, exact, prediction, doc, source, baseline, caution)`.

- `families`: the posteriors that the method can learn; the first is the default (`:diagonal` is `:low_rank` with rank 0)
- `stream`: true if the method learns from one observation after the other and uses each once
- `exact`: true if `fit!` finds the optimum by itself
- `prediction`: the default way to predict with a network that the method has trained
- `doc` and `source`: what the method does, and the paper that it comes from
- `baseline`: true if the method is for comparisons with a paper; its first fit then shows the warning `caution`

# Examples
```julia
describe_method("lo-fi").families  # [:low_rank]
describe_method("laplace").prediction  # :linearized
```
"""
function describe_method(name)
    families, doc, source, caution = (Ref{Ptr{UInt8}}() for _ in 1:4)
    stream, exact, prediction, baseline = Ref{Int32}(), Ref{Int32}(), Ref{Cint}(), Ref{Int32}()
    check(LibBDL.bdl_method_describe(String(name), families, stream, exact, prediction, doc, source))
    check(LibBDL.bdl_method_standing(String(name), baseline, caution))
    return (name = String(name), families = Symbol.(split(unsafe_string(families[]), " | ")), stream = stream[] != 0,
        exact = exact[] != 0, prediction = symbol(PREDICT_METHODS, prediction[]), doc = unsafe_string(doc[]),
        source = unsafe_string(source[]), baseline = baseline[] != 0, caution = unsafe_string(caution[]))
end

"""
    suggest_training(model, n; in_blocks = false, method = nothing, family = nothing)

Returns how the estimators train a model with `n` examples: `(method, family, rank, options)`. You can fix the method, the family of
the posterior, both or neither. Pass `options` to [`set_text!`](@ref).

# Examples
```julia
suggest_training(Model((6, 50, 1)), 100; method = "vogn").family  # :diagonal
```
"""
function suggest_training(model::Model, n::Integer; in_blocks::Bool = false, method = nothing, family = nothing)
    word(wish) = wish === nothing ? "auto" : String(wish)
    found, suits, options = (Ref{Ptr{UInt8}}() for _ in 1:3)
    rank = Ref{Int64}()
    check(LibBDL.bdl_training_suggest(handle(model), n, in_blocks, word(method), word(family), found, suits, rank, options))
    return (method = unsafe_string(found[]), family = Symbol(unsafe_string(suits[])), rank = Int(rank[]),
        options = unsafe_string(options[]))
end

"""
    suggest_noise(optimizer; in_blocks = false, prior = nothing, y = nothing)

Returns the noise that the estimators take for a regression, from an optimizer of a model with Gaussian noise: `:heteroscedastic` or
`:gaussian`. It is `:student_t` in place of `:heteroscedastic` if a target of `y` is more than 1000 robust standard deviations from the
median. If the fit has a `prior`, pass that [`Posterior`](@ref).

# Examples
```julia
suggest_noise(optimizer)  # :heteroscedastic
```
"""
suggest_noise(optimizer::Optimizer; in_blocks::Bool = false, prior::Union{Posterior,Nothing} = nothing, y = nothing) =
    first(noise_and_outlier(optimizer, in_blocks, prior, y))

"The noise, and the distance of the outlier that makes it `:student_t`, else 0."
function noise_and_outlier(optimizer, in_blocks, prior, y)
    noise, distance = Ref{Cint}(), Ref{Float64}()
    parameters = prior === nothing ? 0 : length(prior)
    check(LibBDL.bdl_noise_suggest(handle(optimizer), in_blocks, parameters, look_or_none(y), noise, distance))
    return symbol(LIKELIHOODS, noise[]), distance[]
end

"How the optimizer's model predicts best when its method has trained it."
function prediction_method(optimizer::Optimizer)
    prediction = Ref{Cint}()
    check(LibBDL.bdl_method_prediction(method(optimizer), handle(optimizer.model), prediction))
    return symbol(PREDICT_METHODS, prediction[])
end

"""
    suggest_method(model, posterior; stream = false)

Returns the method that libbdl suggests for a model and a posterior, for training on a data set or, with `stream = true`, on a stream.

# Examples
```julia
suggest_method(model, Posterior(model; rank = 5); stream = true)  # "lo-fi"
```
"""
suggest_method(model::Model, q::Posterior; stream::Bool = false) =
    read_text(out -> LibBDL.bdl_method_suggest(handle(model), handle(q), stream, out))

"""
    method(optimizer)

Returns the name of the method.

# Examples
```julia
method(optimizer)  # "slang-ggn"
```
"""
method(optimizer::Optimizer) = LibBDL.bdl_optimizer_method(alive(optimizer))

"""
    data_size(optimizer)

Returns the number of examples in the whole data set.

# Examples
```julia
data_size(optimizer) == size(X, 1)  # true
```
"""
data_size(optimizer::Optimizer) = Int(LibBDL.bdl_optimizer_data_size(alive(optimizer)))

"""
    options(optimizer)

Returns all options as rows `(name, value, default, range, doc)`. Julia prints them as a table with a star at values that differ from
the default.

# Examples
```julia
optimizer[:learning_rate] = 0.01
first(options(optimizer))
```
"""
options(optimizer::Optimizer) = OptionTable([
    (name = Symbol(o.name), value = get_option(handle(optimizer), o.name), default = o.default, range = o.range, doc = o.doc)
    for o in option_table()
])

Base.getindex(optimizer::Optimizer, name::Union{Symbol,AbstractString}) = get_option(handle(optimizer), String(name))
Base.setindex!(optimizer::Optimizer, value, name::Union{Symbol,AbstractString}) =
    set_option!(unused(handle(optimizer)), String(name), value)

"""
    set!(optimizer; options...)

Sets options by keyword. On an error no option changes.

# Examples
```julia
set!(optimizer; schedule = "power", decay = 0.5)
```
"""
set!(optimizer::Optimizer; options...) =
    set_text!(optimizer, join((option_text(string(name), value) for (name, value) in pairs(options)), ' '))

"""
    set_text!(optimizer, text)

Sets options from text. On an error no option changes.

# Examples
```julia
set_text!(optimizer, "learning_rate=0.01 samples=4")
```
"""
function set_text!(optimizer::Optimizer, text::AbstractString)
    check(LibBDL.bdl_optimizer_set_text(unused(handle(optimizer)), text))
    return optimizer
end

"""
    start_noise!(optimizer, Y)
    start_noise!(optimizer, data::Dataset)

Sets the noise that training begins with, from the variance of each target in `Y` or in a [`Dataset`](@ref).

# Examples
```julia
start_noise!(optimizer, y)
```
"""
function start_noise!(optimizer::Optimizer, Y)
    foreach(unused, trained(optimizer))
    check(LibBDL.bdl_optimizer_start_noise(handle(optimizer), look(Y)))
    return optimizer
end

"""
    set_prior!(optimizer, precision)
    set_prior!(optimizer, posterior)
    set_prior!(optimizer, normal(location, scale))

Sets the prior, which training then does not learn: N(0, 1 / precision), with one precision or one for each parameter; or a posterior
of the same model, for example from other data, with its mean and whole precision matrix. Normal priors ([`normal`](@ref)) are those of parameters of standardised data; a scale of
`NaN` leaves the prior of the options.

# Examples
```julia
set_prior!(optimizer, 10)
set_prior!(optimizer, copy(q))
```
"""
function set_prior!(optimizer::Optimizer, prior::Posterior)
    check(LibBDL.bdl_optimizer_set_prior_posterior(unused(handle(optimizer)), handle(prior)))
    return optimizer
end

function set_prior!(optimizer::Optimizer, precision)
    check(LibBDL.bdl_optimizer_set_prior(unused(handle(optimizer)), look_row(precision)))
    return optimizer
end

"""
    prior(optimizer)

Returns the present prior precision of every parameter, learned or given.

# Examples
```julia
extrema(prior(optimizer))
```
"""
prior(optimizer::Optimizer) =
    filled(view -> LibBDL.bdl_optimizer_get_prior(handle(optimizer), view), row_of(optimizer.posterior), look_row)

"""
    initialize!(optimizer)

Restarts training: initial mean, precision and scales, and step 0. Training calls `initialize!` by itself if the posterior is
uninitialised.

# Examples
```julia
initialize!(optimizer)
progress(optimizer).step  # 0
```
"""
function initialize!(optimizer::Optimizer)
    foreach(unused, trained(optimizer))
    check(LibBDL.bdl_optimizer_initialize(handle(optimizer)))
    return optimizer
end

"""
    memory(optimizer; minibatch = 0)

Returns an upper estimate of the bytes that training will need, before anything is allocated. The estimate is at most a quarter too
high, apart from some kilobytes. `minibatch = 0` means the size that the option gives.

# Examples
```julia
memory(optimizer; minibatch = 100) / 2^20  # MB
```
"""
memory(optimizer::Optimizer; minibatch::Integer = 0) =
    Int(read_out(out -> LibBDL.bdl_optimizer_memory(handle(optimizer), minibatch, out), Int64))

describe(io::IO, optimizer::Optimizer) = print(io, "Optimizer(\"$(method(optimizer))\", $(data_size(optimizer)) examples, ",
    "step $(progress(optimizer).step), ", optimizer.posterior, ")")

"The caller's arrays for a call: copies of vectors, if functions of the user's run in it."
function looks(optimizer::Optimizer, arrays...; progress = nothing)
    model = optimizer.model
    own = model !== nothing && model.handle.keep !== nothing
    runs = progress !== nothing || own || any(!isnothing, called_by(optimizer))
    return map(runs ? look_steadily : look, arrays)
end
looks(model::Model, arrays...) = map(model.handle.keep === nothing ? look : look_steadily, arrays)
