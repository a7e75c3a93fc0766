# Ranks that train together: whatever has the functions that move bytes.

bdl_communicator <- function(moves) {
  if (!is.list(moves) && !is.environment(moves)) refuse("moves must be a list or an environment")
  missing <- Filter(function(name) is.null(moves[[name]]), c("rank", "size", "all_gather", "exchange"))
  if (length(missing) > 0) refuse("moves has no ", paste(missing, collapse = ", "))
  bdl_communicator_create(moves$rank, moves$size, list(moves$all_gather, moves$exchange))
}

bdl_mpi_world <- function(timeout = 0) bdl_mpi_start_world(timeout)

bdl_mpi_of <- function(handle, timeout = 0) bdl_mpi_from_fortran(handle, timeout)

bdl_set_communicator <- function(optimizer, communicator) {
  set <- if (inherits(optimizer, "bdl_search")) bdl_search_set_communicator else bdl_optimizer_set_communicator
  set(optimizer, communicator)
  invisible(optimizer)
}
