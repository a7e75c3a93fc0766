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
fit!(optimizer, X, y; epochs = 120)
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
    foreach(option -> set_option!(h, string(option[1]), option[2]), pairs(options))
    return Optimizer(h, model, q)
end
Optimizer(model::Union{Model,Nothing}, q::Posterior, n::Integer; options...) =
    Optimizer(model, q, "slang-ggn", n; options...)

"The handles that a call which trains needs for itself: the optimizer's own and those that it changes."
trained(optimizer::Optimizer) = optimizer.model === nothing ?
                                (handle(optimizer), handle(optimizer.posterior)) :
                                (handle(optimizer), handle(optimizer.posterior), handle(optimizer.model))

"""
    training_methods()

Names of all methods that an [`Optimizer`](@ref) knows.

# Examples
```julia
"slang-ggn" in training_methods()  # true
```
"""
function training_methods()
    names = String[]
    while true
        name = LibBDL.bdl_method_name(length(names))
        name === nothing && return names
        push!(names, name)
    end
end

"""
    describe_method(name)

What a method is for: `(name, family, stream, exact, prediction)`. `family` is the posteriors that it learns, `:any` for every
Gaussian; `stream`: it takes one observation after the other, each once; `exact`: `fit!` goes to the optimum by itself;
`prediction`: how networks that it has trained predict best.

# Examples
```julia
describe_method("lo-fi").family  # :low_rank
describe_method("map").prediction  # :plug_in
```
"""
function describe_method(name)
    family, stream, exact, prediction = Ref{Ptr{UInt8}}(), Ref{Int32}(), Ref{Int32}(), Ref{Cint}()
    check(LibBDL.bdl_method_describe(String(name), family, stream, exact, prediction))
    return (name = String(name), family = Symbol(unsafe_string(family[])), stream = stream[] != 0,
        exact = exact[] != 0, prediction = symbol(PREDICT_METHODS, prediction[]))
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

Sets options by keyword.

# Examples
```julia
set!(optimizer; schedule = "power", decay = 0.5)
```
"""
function set!(optimizer::Optimizer; options...)
    foreach(option -> optimizer[option[1]] = option[2], pairs(options))
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

Bytes that the optimizer's workspace will hold, before anything is allocated; minibatch 0: as the option says.

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
    model, keep = optimizer.model, optimizer.handle.keep
    draws = keep isa Tuple && length(keep) == 3 && keep[3] !== nothing
    own = model !== nothing && model.handle.keep !== nothing
    return map(progress !== nothing || draws || own ? look_steadily : look, arrays)
end
looks(model::Model, arrays...) = map(model.handle.keep === nothing ? look : look_steadily, arrays)
