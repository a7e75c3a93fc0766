# Calls of the library: statuses become exceptions, exceptions of callbacks come out unchanged, Ctrl-C works.

const ERRORS = Dict{Cint,Type}(
    LibBDL.BDL_ERROR_INVALID_ARGUMENT => InvalidArgumentError,
    LibBDL.BDL_ERROR_SHAPE => ShapeError,
    LibBDL.BDL_ERROR_NOT_FINITE => NotFiniteError,
    LibBDL.BDL_ERROR_LABEL => LabelError,
    LibBDL.BDL_ERROR_UNKNOWN_OPTION => UnknownOptionError,
    LibBDL.BDL_ERROR_UNSUPPORTED => UnsupportedError,
    LibBDL.BDL_ERROR_OUT_OF_MEMORY => AllocationError,
    LibBDL.BDL_ERROR_FILE => FileError,
    LibBDL.BDL_ERROR_FORMAT => FormatError,
    LibBDL.BDL_ERROR_DIVERGED => DivergedError,
    LibBDL.BDL_ERROR_CALLBACK => CallbackError,
    LibBDL.BDL_ERROR_INTERNAL => InternalError,
    LibBDL.BDL_ERROR_PEER => PeerError,
    LibBDL.BDL_ERROR_COMMUNICATION => CommunicationError,
)

"The message of the library where a callback has failed."
const CALLED_BACK = (LibBDL.BDL_ERROR_CALLBACK, LibBDL.BDL_ERROR_COMMUNICATION)

"Raises what a short call, which asks nothing back, has failed with."
function check(status::Cint)
    status == LibBDL.BDL_OK && return nothing
    message = replace(LibBDL.bdl_last_error(), r"^bdl_\w+: " => "")  # the C function, which the user has not called
    throw(get(ERRORS, status, InternalError)(numbered_from_1(message)))
end

"""
Runs `body`, a call that may take long or call back, and returns BDL_OK or BDL_STOPPED; everything else is raised.
`reads` are handles that it only reads, `changes` those it needs for itself: callbacks must not close either or change
any of them, which would pull the ground from under the library.

Ctrl-C waits until the library asks (`on_interrupt`) or a callback runs, and is raised when the library has returned.
Callbacks know their call by the task, on whose stack they run; it stays on its thread, as the library's thread-local
state does.
"""
function guarded(body, reads::Tuple, changes::Tuple = (); progress = nothing)
    call = Call(progress, nothing, false)
    status = disable_sigint(() -> run_as(call, body, reads, changes))
    call.error isa InterruptException && throw(call.error)
    status in CALLED_BACK && call.error !== nothing && throw(call.error)
    return status
end

function run_as(call::Call, body, reads::Tuple, changes::Tuple)
    task, storage = current_task(), task_local_storage()
    outer, sticky = get(storage, CALL, nothing), task.sticky
    occupy(changes)
    foreach(handle -> Threads.atomic_add!(handle.users, 1), reads)
    try
        storage[CALL] = call
        task.sticky = true
        # It is never unset: asked outside of a call of ours it says to go on, and another task may be in a call.
        LibBDL.bdl_set_interrupt(LibBDL.@bdl_interrupt_fn(on_interrupt), C_NULL)
        status = body()::Cint
        raised_later = call.error isa InterruptException ||
            (status in CALLED_BACK && call.error !== nothing)
        raised_later || status == LibBDL.BDL_STOPPED || check(status)
        return status
    finally
        task.sticky = sticky
        outer === nothing ? delete!(storage, CALL) : (storage[CALL] = outer)
        foreach(handle -> Threads.atomic_sub!(handle.users, 1), reads)
        foreach(handle -> Threads.atomic_sub!(handle.users, 1), changes)
    end
end

"Takes handles for a call that needs them alone: all or, raising, none."
function occupy(handles::Tuple)
    for (i, handle) in enumerate(handles)
        if Threads.atomic_cas!(handle.users, 0, 1) != 0
            foreach(taken -> Threads.atomic_sub!(taken.users, 1), handles[1:i-1])
            throw(in_use(handle))
        end
    end
end

in_use(handle) = InvalidArgumentError("$(name_of(handle)) is in use by a call in progress")

"The handle, for a short call that changes it."
function unused(handle::Handle)
    handle.users[] == 0 || throw(in_use(handle))
    return handle
end
