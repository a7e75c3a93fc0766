# Ranks of MPI train with the results of one that trains alone: mpirun -n N Rscript ranks.R N [Rmpi]
library(bdl)

arguments <- commandArgs(TRUE)
i <- 0:95
x <- sapply(0:3, function(j) sin(1.3 * i + 0.7 * j * i))
y <- as.numeric(x[, 1] > 0.2)

learned <- function(ranks, method = "vogn", hidden = 5) {
  model <- bdl_model(c(4, hidden, 1), likelihood = "bernoulli")
  q <- bdl_posterior(model, rank = 0, family = if (method == "exact-full") "full" else "low_rank")
  optimizer <- bdl_optimizer(model, q, method, data_size = 96, shards = 4, threads = 1)
  bdl_set_communicator(optimizer, ranks)
  bdl_fit(optimizer, x, y, epochs = 20)
  mean(q)
}

rmpi <- "Rmpi" %in% arguments
if (rmpi) {
  Sys.setenv(OMPI_MPI_THREAD_LEVEL = 1)
  library(Rmpi)
}
ranks <- bdl_mpi_world(timeout = 30)
place <- bdl_communicator_size(ranks)
stopifnot(place$size == as.integer(arguments[1]))
stopifnot(identical(learned(ranks), learned(NULL)))
stopifnot(identical(learned(ranks, "exact-full", NULL), learned(NULL, "exact-full", NULL)))
stopifnot(bdl_communicator_statistics(ranks)$received > 0)
cat(sprintf("rank %d: the same bits\n", place$rank))
if (rmpi) {
  again <- bdl_mpi_of(mpi.comm.c2f(0), timeout = 30)
  stopifnot(identical(bdl_communicator_size(again), place), identical(learned(again), learned(NULL)))
  close(again)
  close(ranks)
  mpi.quit()
}
