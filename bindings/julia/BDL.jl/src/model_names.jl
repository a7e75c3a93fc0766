# Names of a model's inputs, targets and classes, which are saved with it for every language.

"""
    input_names(model)

Returns the names of the columns of X, which are saved with the model, or `nothing` if there are none ([`set_names!`](@ref)).

# Examples
```julia
named = set_names!(Model((2, 1)); inputs = ["length", "width"])
input_names(named)
```
"""
input_names(model::Model) = read_names(model, LibBDL.BDL_INPUT, ninputs(model))

"""
    target_names(model)

Returns the names of the columns of y, or `nothing`.

# Examples
```julia
target_names(set_names!(Model((2, 1)); targets = ["height"]))  # ["height"]
```
"""
target_names(model::Model) = read_names(model, LibBDL.BDL_TARGET, ntargets(model))

"""
    class_labels(model)

Returns the labels of the classes in the order of their numbers, or `nothing` if there are none. The labels have the type that they had
when the model was saved, in whatever language: `String`, `Int`, `Float64` or `Bool`.

# Examples
```julia
sign_model = Model((2, 1); likelihood = :bernoulli)
set_names!(sign_model; classes = [false, true])
save("sign.safetensors", sign_model)
class_labels(load("sign.safetensors").model)  # false and true
```
"""
function class_labels(model::Model)
    found = read_names(model, LibBDL.BDL_CLASS, class_count(model))
    found === nothing && return nothing
    type = read_out(out -> LibBDL.bdl_model_get_class_type(alive(model), out), Int32)
    type == LibBDL.BDL_CLASS_BOOLEAN && return found .== "true"
    type == LibBDL.BDL_CLASS_INTEGER && return parse.(Int, found)
    return type == LibBDL.BDL_CLASS_REAL ? parse.(Float64, found) : found
end

"""
    set_names!(model; inputs, targets, classes)

Names the columns of X and y, and the classes. `nothing` removes names, and names that you do not give stay. Labels of classes are
text, symbols, whole or real numbers, or truth values. Estimators set the labels when they are saved.

# Examples
```julia
set_names!(Model((2, 1); likelihood = :bernoulli); classes = [false, true])
```
"""
function set_names!(model::Model; names...)
    unknown = setdiff(keys(names), (:inputs, :targets, :classes))
    isempty(unknown) || throw(InvalidArgumentError("set_names! takes inputs, targets and classes, not $(join(unknown, ", "))"))
    haskey(names, :inputs) && write_names(model, LibBDL.BDL_INPUT, ninputs(model), names[:inputs], "inputs")
    haskey(names, :targets) && write_names(model, LibBDL.BDL_TARGET, ntargets(model), names[:targets], "targets")
    haskey(names, :classes) && write_labels(model, names[:classes])
    return model
end

function class_count(model::Model)
    word = likelihood(model)
    word in (:categorical, :ordinal) && return nmoments(model)
    return word in BINARY_LIKELIHOODS && noutputs(model) == 1 ? 2 : 0
end

function read_names(model, what, count)
    name, h = Ref{Ptr{UInt8}}(), alive(model)
    found = map(1:count) do i
        check(LibBDL.bdl_model_get_name(h, what, i - 1, name))
        GC.@preserve h unsafe_string(name[])
    end
    return all(isempty, found) ? nothing : found
end

function write_names(model, what, count, names, title)
    given = names === nothing ? fill("", count) : string.(names)
    length(given) == count || throw(ShapeError("$title has $(length(given)) names; the model has $count"))
    h = unused(handle(model))
    for (i, name) in enumerate(given)
        check(LibBDL.bdl_model_set_name(h, what, i - 1, name))
    end
end

function write_labels(model, labels)
    labels === nothing && return write_names(model, LibBDL.BDL_CLASS, class_count(model), nothing, "classes")
    type = label_type(labels)
    type === nothing && throw(LabelError("classes are neither text nor symbols, numbers or truth values"))
    write_names(model, LibBDL.BDL_CLASS, class_count(model), labels, "classes")
    check(LibBDL.bdl_model_set_class_type(unused(handle(model)), type))
end

"Returns the type of labels in checkpoints; `nothing` if they are of another type, or of several."
function label_type(labels)
    all(label -> label isa Union{AbstractString,Symbol}, labels) && return LibBDL.BDL_CLASS_TEXT
    all(label -> label isa Bool, labels) && return LibBDL.BDL_CLASS_BOOLEAN
    all(label -> label isa Integer && !(label isa Bool), labels) && return LibBDL.BDL_CLASS_INTEGER
    return all(label -> label isa AbstractFloat, labels) ? LibBDL.BDL_CLASS_REAL : nothing
end
