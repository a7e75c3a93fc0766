/* Communicators of MPI. Run it by mpirun; a process that is alone will do as well.
 */
#include <mpi.h>
/* The header of MPI comes first. */
#include <bdl/mpi.h>

#include "example.h"

static int32_t size_of(bdl_communicator* processes) {
  int32_t size = 0;
  CHECK(bdl_communicator_size(processes, NULL, &size));
  return size;
}

int main(void) {
  bdl_communicator* processes;

  /* [bdl_communicator_world] */
  CHECK(bdl_communicator_world(
      0, &processes)); /* all processes; starts MPI, waits for ever */
  printf("%d process(es)\n", size_of(processes));
  bdl_communicator_free(processes); /* before MPI ends, with the program */
  /* [bdl_communicator_world] */

  /* [bdl_communicator_from_mpi] */
  CHECK(bdl_communicator_from_mpi(MPI_COMM_SELF, 60,
                                  &processes)); /* waits for a minute */
  printf("%d process\n", size_of(processes));
  bdl_communicator_free(processes);
  /* [bdl_communicator_from_mpi] */

  /* [bdl_communicator_from_handle] */
  MPI_Comm comm =
      MPI_COMM_SELF; /* in Python: MPI._addressof(comm), MPI._sizeof(comm) */
  CHECK(bdl_communicator_from_handle(&comm, sizeof comm, 60, &processes));
  printf("%d process\n", size_of(processes));
  bdl_communicator_free(processes);
  /* [bdl_communicator_from_handle] */

  /* [bdl_communicator_from_fortran] */
  CHECK(bdl_communicator_from_fortran(MPI_Comm_c2f(MPI_COMM_SELF), 60,
                                      &processes));
  printf("%d process\n", size_of(processes));
  EXPECT(size_of(processes) == 1);
  bdl_communicator_free(processes);
  /* [bdl_communicator_from_fortran] */
  return 0;
}
