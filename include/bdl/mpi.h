/**
 * @file mpi.h
 * Communicators of MPI: the library libbdl_mpi, which is built where an MPI is found, once for each MPI. It is not
 * part of bdl/bdl.h. Include MPI's own mpi.h before it for bdl_communicator_from_mpi().
 *
 * Each of these calls is collective: all ranks of the MPI communicator make it. MPI calls of a training call are
 * made on the thread of that call only. MPI must have been started with MPI_THREAD_SERIALIZED, or with
 * MPI_THREAD_FUNNELED if training runs on the main thread.
 *
 * Waiting for other ranks, a communicator asks the function of bdl_set_interrupt() every 20 ms. An interrupted
 * rank waits five seconds more for the message it is waiting for, so that all ranks can stop together; where it
 * does not come, or has not come by the timeout, the call fails with BDL_ERROR_COMMUNICATION.
 */
#ifndef BDL_MPI_H
#define BDL_MPI_H

#include <stdint.h>

#include "bdl/communicator.h"

#define BDL_MPI_API BDL_API

#ifdef __cplusplus
extern "C" {
#endif

/**
 * All ranks that the program was started with (MPI_COMM_WORLD); the launcher is all it needs. MPI is started
 * unless it runs, and ended with the program if this call has started it. Since 0.2.
 * @param timeout      seconds to wait for a message, > 0; 0: for ever
 * @param communicator receives the handle; free with bdl_communicator_free(), before MPI ends
 */
BDL_MPI_API bdl_status bdl_communicator_world(double timeout, bdl_communicator** communicator);

#ifdef MPI_VERSION
/**
 * Makes a communicator of the ranks of an MPI communicator, which is duplicated: the caller may free its own. Since
 * 0.2.
 * @param comm         an intracommunicator
 * @param timeout      as of bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_mpi(MPI_Comm comm, double timeout,
                                                 bdl_communicator** communicator);
#endif

/**
 * For languages that hold an MPI_Comm somewhere: mpi4py at MPI._addressof(comm), of MPI._sizeof(comm)
 * bytes. Since 0.2.
 * @param address      of the MPI_Comm
 * @param bytes        its size; another MPI's has another one and is refused
 * @param timeout      as of bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_handle(const void* address, int64_t bytes, double timeout,
                                                    bdl_communicator** communicator);

/**
 * For languages that know the communicator by Fortran's number: MPI_Comm_c2f(), comm.py2f() of mpi4py,
 * mpi.comm.c2f() of Rmpi. Since 0.2.
 * @param handle       the number
 * @param timeout      as of bdl_communicator_world()
 * @param communicator receives the handle
 */
BDL_MPI_API bdl_status bdl_communicator_from_fortran(int32_t handle, double timeout,
                                                     bdl_communicator** communicator);

#ifdef __cplusplus
}
#endif

#endif
