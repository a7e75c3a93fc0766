# Ranks of MPI, by the library libbdl_mpi, which needs no Julia package.

const libbdl_mpi = Ref{Ptr{Cvoid}}(C_NULL)

"A function of libbdl_mpi, which is opened when it is first asked for: beside libbdl, or the system's."
function function_of_mpi(name)
    if libbdl_mpi[] == C_NULL
        file = "libbdl_mpi.so.0"
        beside = joinpath(dirname(Libdl.dlpath(LibBDL.libbdl)), file)
        # Open MPI's parts find each other among the global symbols.
        opened = Libdl.dlopen(isfile(beside) ? beside : file, Libdl.RTLD_LAZY | Libdl.RTLD_GLOBAL; throw_error = false)
        opened === nothing &&
            throw(UnsupportedError("libbdl_mpi is needed, which is built where an MPI is found, beside libbdl"))
        libbdl_mpi[] = opened
    end
    return Libdl.dlsym(libbdl_mpi[], name)
end

"""
    mpi_world(; timeout = 0)

Returns a [`Communicator`](@ref) of all processes that the launcher has started, for example `mpirun -n 4 julia program.jl`. It needs the
library libbdl_mpi, which is built with libbdl if the build finds an MPI. The function starts MPI if necessary, and ends it with the
program. `timeout` is the longest time to wait for a message, in seconds; 0 waits for ever.

# Examples
```julia
together!(optimizer) = set_communicator!(optimizer, mpi_world(timeout = 60))
```
"""
function mpi_world(; timeout::Real = 0)
    world = function_of_mpi(:bdl_communicator_world)
    return Communicator(create(bdl_communicator) do out
        ccall(world, Cint, (Cdouble, Ptr{Ptr{bdl_communicator}}), timeout, out)
    end)
end

"""
    mpi_of(comm; timeout = 0)

Returns a [`Communicator`](@ref) of the processes of an MPI communicator: of MPI.jl, or any object that holds an `MPI_Comm` as
`comm.val`. Both libraries must use the same MPI (MPI.jl: `MPIPreferences.use_system_binary()`), and MPI must be started with
`MPI.Init(threadlevel = :serialized)` or by `mpi_world()`.

# Examples
```julia
# using MPI
# MPI.Init(threadlevel = :serialized)
# together!(optimizer, MPI.COMM_WORLD)
together!(optimizer, comm) = set_communicator!(optimizer, mpi_of(comm))
```
"""
function mpi_of(comm; timeout::Real = 0)
    of_handle, handle = function_of_mpi(:bdl_communicator_from_handle), Ref(comm.val)
    return Communicator(create(bdl_communicator) do out
        ccall(of_handle, Cint, (Ptr{Cvoid}, Int64, Cdouble, Ptr{Ptr{bdl_communicator}}), handle, sizeof(handle[]), timeout, out)
    end)
end
