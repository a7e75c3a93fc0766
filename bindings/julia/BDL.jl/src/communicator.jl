# Ranks that train together: two functions that move bytes.

"What the trampolines find: the user's functions and how many ranks there are."
mutable struct Moves
    all_gather::Any
    exchange::Any
    size::Int
end

function on_all_gather(data::Ptr{Cvoid}, send::Ptr{Cvoid}, bytes::Int64, receive::Ptr{Cvoid}, lengths::Ptr{Int64})::Int32
    return called_back(Int32(-1)) do
        moves = unsafe_pointer_to_objref(data)::Moves
        messages = moves.all_gather(message_at(send, bytes))
        messages isa Union{Tuple,AbstractVector} && length(messages) == moves.size ||
            throw(ShapeError("all_gather returned $(summary_of(messages)), expected the messages of $(moves.size) ranks"))
        offset = 0
        for (r, message) in enumerate(messages)
            expected = unsafe_load(lengths, r)
            receive_message(message, receive + offset, expected, "all_gather's message of rank $(r - 1)")
            offset += expected
        end
        Int32(0)
    end
end

function on_exchange(data::Ptr{Cvoid}, peer::Int32, send::Ptr{Cvoid}, bytes::Int64, receive::Ptr{Cvoid}, expected::Int64)::Int32
    return called_back(Int32(-1)) do
        moves = unsafe_pointer_to_objref(data)::Moves
        receive_message(moves.exchange(Int(peer), message_at(send, bytes)), receive, expected, "exchange's message of rank $peer")
        Int32(0)
    end
end

"A copy that the user's function may keep and change."
message_at(address, bytes) = copy(unsafe_wrap(Array, Ptr{UInt8}(address), bytes))

function receive_message(message, address, expected, name)
    message isa AbstractVector{UInt8} && length(message) == expected ||
        throw(ShapeError("$name is $(summary_of(message)), expected a vector of $expected bytes"))
    copyto!(unsafe_wrap(Array, Ptr{UInt8}(address), expected), message)
    return nothing
end

"""
    Communicator(all_gather, exchange; rank, size)

The ranks of a program for [`set_communicator!`](@ref), by two functions that move bytes (`Vector{UInt8}`), over MPI, sockets or
whatever connects them. This is rank `rank` of `size`, counted from 0, as in MPI.

- `all_gather(message)` returns the messages of all ranks in their order, this one's among them. All ranks call it at the
  same time, and their messages may differ in length.
- `exchange(peer, message)` returns the message of rank `peer`, which calls it at the same time and gets this one.

An exception in either ends the call in progress and comes out unchanged; the communicator is of no use then.
`rank(ranks)` and `length(ranks)` say which rank this is, of how many.

# Examples
```julia
alone = Communicator(message -> [message], (peer, message) -> error("there is no peer"); rank = 0, size = 1)
rank(alone), length(alone)  # (0, 1)
fit!(set_communicator!(optimizer, alone), X, y; epochs = 1)
```
"""
struct Communicator <: Owner
    handle::bdl_communicator
end

function Communicator(all_gather, exchange; rank::Integer, size::Integer)
    moves = Moves(all_gather, exchange, size)
    return Communicator(create(bdl_communicator, Held(moves, all_gather, exchange)) do out
        # No destroy function: garbage collection frees what the handle keeps.
        LibBDL.bdl_communicator_create(rank, size, LibBDL.@bdl_all_gather_fn(on_all_gather), LibBDL.@bdl_exchange_fn(on_exchange),
            pointer_from_objref(moves), C_NULL, out)
    end)
end

rank(ranks::Communicator) = Int(read_out(out -> LibBDL.bdl_communicator_size(handle(ranks), out, C_NULL), Int32))
Base.length(ranks::Communicator) = Int(read_out(out -> LibBDL.bdl_communicator_size(handle(ranks), C_NULL, out), Int32))

"""
    traffic(ranks)

What a [`Communicator`](@ref) has done so far: `(calls, sent, received, seconds)`, sent and received in bytes.

# Examples
```julia
alone = Communicator(message -> [message], (peer, message) -> error("there is no peer"); rank = 0, size = 1)
traffic(alone).received  # 0
```
"""
function traffic(ranks::Communicator)
    calls, sent, received, seconds = Ref{Int64}(), Ref{Int64}(), Ref{Int64}(), Ref{Float64}()
    check(LibBDL.bdl_communicator_statistics(handle(ranks), calls, sent, received, seconds))
    return (calls = Int(calls[]), sent = Int(sent[]), received = Int(received[]), seconds = seconds[])
end

"""
    set_communicator!(optimizer, ranks)

From now on [`fit!`](@ref), [`step!`](@ref) and [`laplace!`](@ref) are calls that all ranks make together, on optimizers and data that are the same; each
reads only its own part of the rows, and all end with the same posterior, whatever their number. `progress` is called on
rank 0. Where one rank fails, the others raise [`PeerError`](@ref). `nothing`: alone again. Copies are alone.

# Examples
```julia
set_communicator!(optimizer, nothing)
```
"""
function set_communicator!(optimizer::Optimizer, ranks::Union{Communicator,Nothing})
    h = unused(handle(optimizer))
    theirs = ranks === nothing ? Ptr{bdl_communicator}(C_NULL) : unused(handle(ranks))
    check(LibBDL.bdl_optimizer_set_communicator(h, theirs))
    keep_called!(optimizer; ranks = handle(ranks))
    return optimizer
end

describe(io::IO, ranks::Communicator) = print(io, "Communicator(rank $(rank(ranks)) of $(length(ranks)))")
Base.copy(::Communicator) = throw(UnsupportedError("a communicator cannot be copied"))
