# Ranks: a world of one, with the results of no communicator; two processes, with the results of one.

ranked <- local({
  x <- cbind(sin(1:60), cos(3 * (1:60)))
  list(x = x, y = x[, 1] - 2 * x[, 2] + 0.1 * sin(7 * (1:60)))
})

ranked_learner <- function(method = "vogn", ...) {
  model <- bdl_model(c(2, 3, 1))
  q <- bdl_posterior(model, rank = 0)
  optimizer <- bdl_optimizer(model, q, method, data_size = 60, minibatch = 20, threads = 1, ...)
  list(optimizer = optimizer, q = q)
}

world <- function(all_gather = function(message) list(message), rank = 0, size = 1) {
  list(rank = rank, size = size, all_gather = all_gather, exchange = function(peer, message) stop("there is no peer"))
}

test_that("one rank trains as if alone, and what it calls lives as long as needed", {
  alone <- ranked_learner()
  learner <- ranked_learner()
  bdl_set_communicator(learner$optimizer, bdl_communicator(list2env(world())))
  gc()
  for (epoch in 1:2) {
    bdl_fit(alone$optimizer, ranked$x, ranked$y, epochs = 1)
    bdl_fit(learner$optimizer, bdl_dataset(ranked$x, ranked$y), epochs = 1)
  }
  bdl_step(alone$optimizer, ranked$x, ranked$y)
  bdl_step(learner$optimizer, ranked$x, ranked$y)
  expect_identical(mean(learner$q), mean(alone$q))
  ranks <- bdl_communicator(world())
  expect_identical(format(ranks), "<bdl_communicator>")
  expect_output(print(ranks), "<bdl_communicator> rank 0 of 1")
  bdl_set_communicator(learner$optimizer, ranks)
  bdl_fit(learner$optimizer, ranked$x, ranked$y, epochs = 1)
  expect_gt(bdl_communicator_statistics(ranks)$calls, 0)
  close(ranks)
  gc()
  bdl_fit(learner$optimizer, ranked$x, ranked$y, epochs = 1)
  expect_error(bdl_communicator_size(ranks), class = "bdl_error_invalid_argument")
})

test_that("errors come out as they were, and the communicator is broken", {
  lost <- structure(class = c("lost", "error", "condition"), list(message = "no cable", call = NULL))
  learner <- ranked_learner()
  fit <- function() bdl_fit(learner$optimizer, ranked$x, ranked$y, epochs = 1)
  bdl_set_communicator(learner$optimizer, bdl_communicator(world(function(message) stop(lost))))
  expect_error(fit(), class = "lost")
  expect_error(fit(), class = "bdl_error_communication")
  bdl_set_communicator(learner$optimizer, NULL)
  fit()
  expect_equal(bdl_optimizer_progress(learner$optimizer)$epoch, 1)
})

test_that("what is wrong is said", {
  for (messages in list(list(), NULL, "text", list(raw(0)), list(raw(1), raw(1)), list(1:64))) {
    learner <- ranked_learner()
    bdl_set_communicator(learner$optimizer, bdl_communicator(world(function(message) messages)))
    expect_error(bdl_fit(learner$optimizer, ranked$x, ranked$y, epochs = 1), "all_gather", class = "bdl_error_callback")
  }
  expect_error(bdl_communicator(world()[-3]), "moves has no all_gather", class = "bdl_error_invalid_argument")
  expect_error(bdl_communicator(1), class = "bdl_error_invalid_argument")
  expect_error(bdl_communicator(world(rank = 1)), class = "bdl_error_invalid_argument")
  expect_error(bdl_communicator(world(all_gather = 1)), "functions", class = "bdl_error_invalid_argument")
  expect_error(bdl_set_communicator(ranked_learner("vd-ekf")$optimizer, bdl_communicator(world(size = 2))),
               class = "bdl_error_unsupported")
  expect_error(bdl_set_communicator(learner$optimizer, 1), class = "bdl_error_invalid_argument")
})

# Messages are files, which the other process awaits.
two_processes <- function(work) {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  rank_of <- function(rank) {
    sent <- received <- 0
    swap <- function(message) {
      path <- function(from, number) file.path(folder, paste(from, number))
      part <- file.path(folder, paste("part", rank))
      saveRDS(message, part)
      file.rename(part, path(rank, sent <<- sent + 1))
      awaited <- path(1 - rank, received <<- received + 1)
      late <- Sys.time() + 60
      while (!file.exists(awaited)) if (Sys.time() > late) stop("the other rank is lost") else Sys.sleep(0.001)
      readRDS(awaited)
    }
    gather <- function(message) {
      other <- swap(message)
      if (rank == 0) list(message, other) else list(other, message)
    }
    list(rank = rank, size = 2, all_gather = gather, exchange = function(peer, message) swap(message))
  }
  parallel::mccollect(lapply(0:1, function(rank) {
    parallel::mcparallel(tryCatch(work(bdl_communicator(rank_of(rank)), rank), error = identity))
  }))
}

test_that("two processes have the bits of one, and name the one that fails", {
  skip_on_os("windows")  # no fork
  alone <- ranked_learner(shards = 2)
  bdl_fit(alone$optimizer, ranked$x, ranked$y, epochs = 2)
  means <- two_processes(function(ranks, rank) {
    learner <- ranked_learner(shards = 2)
    bdl_set_communicator(learner$optimizer, ranks)
    bdl_fit(learner$optimizer, ranked$x, ranked$y, epochs = 2)
    if (bdl_communicator_statistics(ranks)$received > 0) mean(learner$q)
  })
  expect_length(means, 2)
  for (each in means) expect_identical(each, mean(alone$q))
  errors <- two_processes(function(ranks, rank) {
    learner <- ranked_learner(shards = 2)
    bdl_set_communicator(learner$optimizer, ranks)
    read <- function(rows) if (max(rows) > 30) stop("the disk is gone") else list(ranked$x[rows, ], ranked$y[rows])
    bdl_fit(learner$optimizer, bdl_dataset(read, rows = 60, inputs = 2, targets = 1))
  })
  expect_s3_class(errors[[1]], "bdl_error_peer")
  expect_match(conditionMessage(errors[[1]]), "process 1 of 2 has failed")
  expect_identical(conditionMessage(errors[[2]]), "the disk is gone")
})
