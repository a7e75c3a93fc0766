# Ranks that train together: two functions that move bytes.

"The user's functions and the number of processes, which the trampolines read."
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

Connects the processes of a program for [`set_communicator!`](@ref), by two functions that exchange bytes (`Vector{UInt8}`), for example
over MPI or sockets. `rank` is the number of this process, from 0 as in MPI, and `size` the number of processes.

- `all_gather(message)` returns the messages of all processes in their order. All processes call it at the same time. The messages
  may differ in length.
- `exchange(peer, message)` sends a message to process `peer` and returns the message of that process.

An exception in a function ends the call and reaches you unchanged; create a new communicator after it. `rank(communicator)` and
`length(communicator)` return the number of this process and the number of processes.

# Examples
```julia
no_peer(peer, message) = error("there is one process only")
alone = Communicator(message -> [message], no_peer; rank = 0, size = 1)
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

Returns what a [`Communicator`](@ref) has exchanged so far: `(calls, sent, received, seconds)`, sent and received in bytes.

# Examples
```julia
no_peer(peer, message) = error("there is one process only")
alone = Communicator(message -> [message], no_peer; rank = 0, size = 1)
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

Lets several processes train together. All processes then call [`fit!`](@ref), [`step!`](@ref) and [`laplace!`](@ref) at the same time,
on equal optimizers and equal data; each reads only its part of the rows. All end with identical posteriors. Only process 0 calls the
progress function. If one process fails, the others raise [`PeerError`](@ref). `nothing` returns to training with one process. Copies
of an optimizer have no communicator.

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
