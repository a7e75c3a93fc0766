"""
    Optimizer(model, posterior, method = "slang-ggn", n; options...)

Learns a posterior: it changes `posterior` and the model's noise. `n` is the number of examples in the whole data set,
which weighs the likelihood against the prior (streams have no use for it). Methods: [`training_methods`](@ref);
options: [`options`](@ref), by keyword. `model` may be `nothing` if only [`step_rows!`](@ref) will be used.

`optimizer[:name]` reads an option, `optimizer[:name] = value` sets it.

# Examples
```julia
model = Model((6, 50, 1))
q = Posterior(model; rank = 5)
optimizer = Optimizer(model, q, "slang-ggn", size(X, 1); learning_rate = 0.01, seed = 2)
fit!(optimizer, X, y; epochs = 100)
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

"What the library calls back for an optimizer: a source of draws and a communicator, or nothing."
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

Names of all methods that an [`Optimizer`](@ref) knows.

# Examples
```julia
"slang-ggn" in training_methods()  # true
```
"""
training_methods() = String[LibBDL.bdl_method_name(i - 1) for i in 1:LibBDL.bdl_method_count()]

"""
    describe_method(name)

What a method is for: `(name, families, stream, exact, prediction, doc, source, baseline, caution)`. `families` are the posteriors that it learns, the
one to take without a wish first (`:diagonal` is a low-rank one of rank 0); `stream`: it takes one observation after the
other, each once; `exact`: `fit!` goes to the optimum by itself; `prediction`: how networks that it has trained predict best;
`baseline`: it is its paper's, there to compare with, and its first fit says the `caution`.

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

What the estimators train a model with for `n` examples, where you name a method, a family, both or neither:
`(method, family, rank, options)`, the last for [`set_text!`](@ref).

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

The noise of a regression that the estimators take, from an optimizer of the model with Gaussian noise: `:heteroscedastic` if fits
learn scales by the evidence, else `:gaussian`; `:student_t` in place of `:heteroscedastic` if a target of `y` is more than 1000 robust
standard deviations from the median. A `prior`, a `Posterior`, says by its number of parameters of which it is.

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

The method to take where you have no wish of your own: in batches, or for a stream.

# Examples
```julia
suggest_method(model, Posterior(model; rank = 5); stream = true)  # "lo-fi"
```
"""
suggest_method(model::Model, q::Posterior; stream::Bool = false) =
    read_text(out -> LibBDL.bdl_method_suggest(handle(model), handle(q), stream, out))

"""
    method(optimizer)

Name of its method.

# Examples
```julia
method(optimizer)  # "slang-ggn"
```
"""
method(optimizer::Optimizer) = LibBDL.bdl_optimizer_method(alive(optimizer))

"""
    data_size(optimizer)

N, the number of examples in the whole data set.

# Examples
```julia
data_size(optimizer) == size(X, 1)  # true
```
"""
data_size(optimizer::Optimizer) = Int(LibBDL.bdl_optimizer_data_size(alive(optimizer)))

"""
    options(optimizer)

All options: rows `(name, value, default, range, doc)`, printed as a table with a star at values that differ from the
default.

# Examples
```julia
options(optimizer)
optimizer[:learning_rate] = 0.01
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

Sets options by keyword: all or, on an error, none.

# Examples
```julia
set!(optimizer; schedule = "power", decay = 0.5)
```
"""
set!(optimizer::Optimizer; options...) =
    set_text!(optimizer, join((option_text(string(name), value) for (name, value) in pairs(options)), ' '))

"""
    set_text!(optimizer, text)

The same from text.

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

Lets training start from a noise of each target's own, for its variance in `Y` or in a [`Dataset`](@ref).

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

Fixes the prior, and stops learning it: N(0, 1 / precision), one precision or one per parameter; or a posterior, of other
data say, with its mean and whole precision.

# Examples
```julia
set_prior!(optimizer, 10)
set_prior!(optimizer, q)  # of the same model, learned from other data
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

The present, possibly learned, prior precision of every parameter.

# Examples
```julia
extrema(prior(optimizer))
```
"""
prior(optimizer::Optimizer) =
    filled(view -> LibBDL.bdl_optimizer_get_prior(handle(optimizer), view), row_of(optimizer.posterior), look_row)

"""
    initialize!(optimizer)

Starts again: initial mean, precision and scales, step 0. Training does this by itself when the posterior is blank.

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

Upper estimate of the bytes that the optimizer's arrays will take, at most a quarter above what is used but for some kilobytes,
before anything is allocated; minibatch 0: as the option says.

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
