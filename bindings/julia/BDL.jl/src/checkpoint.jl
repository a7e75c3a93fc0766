# Checkpoints as files, and the same bytes inside Julia's serialization.

raw(::Nothing, ::Type{H}) where {H} = Ptr{H}(C_NULL)
raw(owner::Owner, ::Type{H}) where {H} = handle(owner)::H

"""
    save(path, optimizer)
    save(path, posterior)
    save(path, model)
    save(path, model, posterior)

Writes a file in the format safetensors, which every language with libbdl can read. The file of an optimizer includes its model and
posterior. If writing fails, an older file stays intact. The functions of a custom model cannot be saved.

An estimator is saved as its optimizer, with the labels of its classes ([`class_labels`](@ref)). Use `serialize` to keep its settings as
well.

# Examples
```julia
save("yacht.safetensors", optimizer)
parts = load("yacht.safetensors")
fit!(parts.optimizer, X, y)
```
"""
save(path::AbstractString, optimizer::Optimizer) = save_parts(path, nothing, nothing, optimizer)
save(path::AbstractString, model::Model) = save_parts(path, model, nothing, nothing)
save(path::AbstractString, q::Posterior) = save_parts(path, nothing, q, nothing)
save(path::AbstractString, model::Model, q::Posterior) = save_parts(path, model, q, nothing)

save_parts(path, model, q, optimizer) = check(LibBDL.bdl_save(path, raw(model, bdl_model), raw(q, bdl_posterior),
    raw(optimizer, bdl_optimizer)))

"""
    load(path; user_model = nothing)

Reads a file that [`save`](@ref) or another language wrote. Returns `(model, posterior, optimizer)`, with `nothing` for parts that the
file does not hold. For a file with a custom model, pass the model; its noise is set from the file.

# Examples
```julia
save("yacht.safetensors", optimizer)
parts = load("yacht.safetensors")
predict(parts.model, parts.posterior, X[1:3, :]).mean
```
"""
function load(path::AbstractString; user_model::Union{Model,Nothing} = nothing)
    held = [Ref{Int32}(0) for _ in 1:4]
    check(LibBDL.bdl_checkpoint_parts(path, held...))
    parts = (model = held[1][] != 0, posterior = held[3][] != 0, optimizer = held[4][] != 0)
    return load_parts(parts, held[2][] != 0 ? user_model : nothing) do user, outs...
        LibBDL.bdl_load(path, user, outs...)
    end
end

"Handles of the wanted parts, which belong to each other; a custom model stays the handle that it was."
function load_parts(read, wanted::NamedTuple, user::Union{Model,Nothing})
    user === nothing || unused(handle(user))
    return disable_sigint() do
        types = (bdl_model, bdl_posterior, bdl_optimizer)
        outs = map(T -> Ref{Ptr{T}}(C_NULL), types)
        check(read(raw(user, bdl_model), map((out, want) -> want ? out : C_NULL, outs, Tuple(wanted))...))
        keep = user === nothing ? nothing : handle(user).keep
        model, q, optimizer = map((T, out) -> T(out[], keep), types, outs)
        wanted.model && user !== nothing && LibBDL.bdl_model_free(model)
        owner = wanted.model ? something(user, Model(model)) : nothing
        learned = wanted.posterior ? Posterior(q) : nothing
        wanted.optimizer || return (model = owner, posterior = learned, optimizer = nothing)
        optimizer.keep = (handle(owner), q)
        return (model = owner, posterior = learned, optimizer = Optimizer(optimizer, owner, learned))
    end
end

"The bytes of a checkpoint."
function saved_bytes(model, q, optimizer)
    handles = (raw(model, bdl_model), raw(q, bdl_posterior), raw(optimizer, bdl_optimizer))
    size = read_out(out -> LibBDL.bdl_save_bytes(handles..., C_NULL, 0, out), Int64)
    bytes = Vector{UInt8}(undef, size)
    read_out(out -> LibBDL.bdl_save_bytes(handles..., bytes, size, out), Int64)
    return bytes
end

loaded_bytes(bytes::Vector{UInt8}, wanted, user::Union{UserModel,Nothing}) =
    load_parts(wanted, user === nothing ? nothing : Model(user)) do given, outs...
        LibBDL.bdl_load_bytes(bytes, length(bytes), given, outs...)
    end

"Returns the parts that an owner is serialized as: bytes, and the functions of a custom model."
record(model::Model) = (saved_bytes(model, nothing, nothing), functions(model))
record(q::Posterior) = (saved_bytes(nothing, q, nothing), nothing)
record(optimizer::Optimizer) =
    (saved_bytes(nothing, nothing, optimizer), functions(optimizer.model), optimizer.model !== nothing)

functions(::Nothing) = nothing
function functions(model::Model)
    held = handle(model).keep
    return held === nothing ? nothing : held.object
end

const NO_PARTS = (model = false, posterior = false, optimizer = false)

revive(::Type{Model}, bytes, user) = loaded_bytes(bytes, merge(NO_PARTS, (model = true,)), user).model
revive(::Type{Posterior}, bytes, user) = loaded_bytes(bytes, merge(NO_PARTS, (posterior = true,)), user).posterior
revive(::Type{Optimizer}, bytes, user, model) =
    loaded_bytes(bytes, (model = model, posterior = true, optimizer = true), user).optimizer

Base.copy(optimizer::Optimizer) = revive(Optimizer, record(optimizer)...)

# An optimizer takes its model and posterior along: serialize it rather than the three.
for P in (Model, Posterior, Optimizer)
    @eval function Serialization.serialize(s::AbstractSerializer, part::$P)
        Serialization.serialize_type(s, $P)
        serialize(s, record(part))
    end
    @eval Serialization.deserialize(s::AbstractSerializer, ::Type{$P}) = revive($P, deserialize(s)...)
end
