# Functions common to Model, Posterior, Optimizer, Predictor, Search, Dataset and Communicator: each holds one handle.

abstract type Owner end

"A new handle from a function that is given the out-pointer. Ctrl-C waits, so that no handle is lost on the way."
function create(make, ::Type{H}, keep = nothing) where {H<:Handle}
    return disable_sigint() do
        out = Ref{Ptr{H}}(C_NULL)
        check(make(out))
        H(out[], keep)
    end
end

"A value from a function that is given the out-pointer."
function read_out(get, ::Type{T}) where {T}
    out = Ref{T}()
    check(get(out))
    return out[]
end

"A string from a function that is given the out-pointer."
read_text(get) = unsafe_string(read_out(get, Ptr{UInt8}))

"An array that a function has filled, given its view."
function filled(fill, array::AbstractVecOrMat, as = look)
    check(fill(as(array)))
    return array
end

handle(owner::Owner) = getfield(owner, :handle)
handle(::Nothing) = nothing

"The handle, which must be open: for functions that answer 0 for NULL."
function alive(owner::Owner)
    h = handle(owner)
    h.address[] == 0 && throw(closed(h))
    return h
end

"""
    close(handle)

Frees a [`Model`](@ref), [`Posterior`](@ref), [`Optimizer`](@ref), [`Predictor`](@ref), [`Search`](@ref), [`Dataset`](@ref) or
[`Communicator`](@ref) at once, before the garbage collector does. Using it later raises [`InvalidArgumentError`](@ref); closing it again
has no effect. An optimizer keeps what it needs of its closed model, posterior and communicator.

# Examples
```julia
closed = LowRankPosterior(100, 5)
close(closed)
isopen(closed)  # false
```
"""
function Base.close(owner::Owner)
    h = handle(owner)
    h.users[] == 0 || throw(in_use(h))
    return free(h)
end

Base.isopen(owner::Owner) = handle(owner).address[] != 0

free(h::bdl_model) = LibBDL.bdl_model_free(h)
free(h::bdl_posterior) = LibBDL.bdl_posterior_free(h)
free(h::bdl_optimizer) = LibBDL.bdl_optimizer_free(h)
free(h::bdl_predictor) = LibBDL.bdl_predictor_free(h)
free(h::bdl_search) = LibBDL.bdl_search_free(h)
free(h::bdl_dataset) = LibBDL.bdl_dataset_free(h)
free(h::bdl_communicator) = LibBDL.bdl_communicator_free(h)

# A handle's address means nothing in a copy or in a file: copying and serialising go through the owners.
Base.deepcopy_internal(h::Handle, ::IdDict) =
    throw(UnsupportedError("a bare handle of a $(name_of(h)) cannot be copied"))
Serialization.serialize(::AbstractSerializer, h::Handle) =
    throw(UnsupportedError("a $(name_of(h)) cannot be serialized"))

function Base.deepcopy_internal(owner::Owner, seen::IdDict)
    return get!(() -> copy(owner), seen, owner)
end

Base.show(io::IO, owner::Owner) =
    isopen(owner) ? describe(io, owner) : print(io, nameof(typeof(owner)), " (closed)")
