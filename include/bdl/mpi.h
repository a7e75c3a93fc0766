/**
 * @file mpi.h
 * Communicators of MPI, in the library libbdl_mpi. It is built where an MPI is found, once for each MPI,
 * and is not part of bdl.h. Include MPI's own mpi.h before this header for bdl_communicator_from_mpi().
 *
 * Each of these calls is collective: all processes of the MPI communicator make it. The MPI calls of a
 * training call are made on its thread only. MPI must have been started with MPI_THREAD_SERIALIZED, or with
 * MPI_THREAD_FUNNELED if training runs on the main thread.
 *
 * While a communicator waits for other processes, it asks the function of bdl_set_interrupt() every 20 ms.
 * An interrupted process waits five more seconds for the message, so that all processes can stop together.
 * If the message does not come in this time or before the timeout, the call returns
 * BDL_ERROR_COMMUNICATION.
 */
#ifndef BDL_MPI_H
#define BDL_MPI_H

#include <stdint.h>

#include "bdl/communicator.h"

/* Visible functions of libbdl_mpi. */
#define BDL_MPI_API BDL_API

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes a communicator of all processes that the program was started with (MPI_COMM_WORLD); a program that
 * is started by the launcher of MPI needs nothing else. The call starts MPI unless it runs, and then MPI
 * ends with the program. Since 0.2.
 * @param timeout      seconds to wait for a message, > 0; 0: wait for ever
 * @param communicator receives the handle; free it with bdl_communicator_free(), before MPI ends
 */
BDL_MPI_API bdl_status bdl_communicator_world(double timeout, bdl_communicator** communicator);

#ifdef MPI_VERSION
/**
 * Makes a communicator of the processes of an MPI communicator, which is duplicated: the caller may free
 * its own. Since 0.2.
 * @param comm         an intracommunicator
 * @param timeout      as for bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_mpi(MPI_Comm comm, double timeout,
                                                 bdl_communicator** communicator);
#endif

/**
 * Makes a communicator from the address of an MPI_Comm, for other languages: mpi4py has it at
 * MPI._addressof(comm), of MPI._sizeof(comm) bytes. Since 0.2.
 * @param address      address of the MPI_Comm
 * @param bytes        its size. Another MPI may have another size, which is refused
 * @param timeout      as for bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_handle(const void* address, int64_t bytes, double timeout,
                                                    bdl_communicator** communicator);

/**
 * Makes a communicator from Fortran's number of an MPI communicator: MPI_Comm_c2f(), comm.py2f() of mpi4py,
 * mpi.comm.c2f() of Rmpi. Since 0.2.
 * @param handle       the number
 * @param timeout      as for bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_fortran(int32_t handle, double timeout,
                                                     bdl_communicator** communicator);

#ifdef __cplusplus
}
#endif

#endif
