# Functions that the library calls back: functions of C, below which there are frames of C++. (They stand before their users: a
# pointer to a function can be made of what exists already.)

"""
Keeps an object whose address the library has, and the types of the user's functions in it, alive for a handle.
An object does not keep its type alive: Julia frees the types of a module that nothing names any more although there
are objects of them left (JuliaLang/julia#28917). A type leads to its module and so to all that its functions need.
"""
struct Held
    object::Any
    types::Any
    Held(object, functions...) = new(object, map(typeof, functions))
end

"A long call in progress: what its callbacks need, the exception they have kept, and whether one of them runs."
mutable struct Call
    progress::Any  # a function of no arguments
    error::Any
    is_back::Bool
end

const CALL = :bdl_call

current_call() = get(task_local_storage(), CALL, nothing)

"Keeps a callback's exception for after the call; an interrupt before others."
function keep!(call::Call, error)
    call.error isa InterruptException || (call.error = error)
    return nothing
end

"""
Returns the result of a callback's work. If it throws, the exception is kept and `failed` returned: none may leave a callback,
below which there are frames of C++. Interrupts are let in meanwhile.
"""
function called_back(work, failed::Int32)
    call = current_call()
    call === nothing && return failed  # the library was called past this package
    was_back = call.is_back
    try
        call.is_back = true
        # Calls of the library that a callback makes may ask for interrupts in turn, which are handled already.
        return was_back ? work() : reenable_sigint(work)
    catch e
        keep!(call, e)
        return e isa InterruptException ? Int32(1) : failed
    finally
        call.is_back = was_back
    end
end

"""
Asked by the library at most every 10 ms whether to go on: the moment to receive Ctrl-C, and to let another thread's
garbage collection begin.
"""
function on_interrupt(::Ptr{Cvoid})::Int32
    call = current_call()
    call === nothing && return 0
    call.error isa InterruptException && return 1
    return called_back(going_on, Int32(1))
end

function going_on()
    GC.safepoint()
    return Int32(0)
end

"Trampolines of bdl_optimizer_fit() and bdl_search_run()."
on_fit(::Ptr{Cvoid}, ::Ptr{bdl_optimizer})::Int32 = report_progress()
on_trial(::Ptr{Cvoid}, ::Ptr{bdl_search})::Int32 = report_progress()

function report_progress()
    call = current_call()
    return called_back(() -> Int32(stops(call.progress()) ? 1 : 0), Int32(-1))
end

"True if the answer of a progress function stops training: only `true` does."
stops(answer) = answer === true
