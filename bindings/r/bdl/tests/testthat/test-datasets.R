# Data sets in place of matrices: the same results wherever rows come from.

made <- local({
  x <- cbind(sin(1:100), cos(3 * (1:100)))
  list(x = x, y = cbind(x[, 1] - 2 * x[, 2] + 0.1 * sin(7 * (1:100))))
})

learner <- function(n = 100, ...) {
  model <- bdl_model(c(2, 3, 1))
  bdl_optimizer(model, bdl_posterior(model, rank = 2), data_size = n, minibatch = 16, seed = 4, threads = 1, ...)
}

trained_on <- function(...) {
  model <- bdl_model(c(2, 3, 1))
  if (inherits(..1, "bdl_dataset")) bdl_model_standardize_dataset(model, ..1) else bdl_model_standardize(model, ...)
  q <- bdl_posterior(model, rank = 2)
  optimizer <- bdl_optimizer(model, q, data_size = 100, minibatch = 16, seed = 4, threads = 1)
  expect_false(bdl_fit(optimizer, ..., epochs = 3))
  list(mean = mean(q), optimizer = optimizer)
}

save_npy <- function(path, values) {
  shape <- sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", nrow(values), ncol(values))
  file <- file(path, "wb")
  writeBin(as.raw(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0)), file)
  writeBin(charToRaw(paste0(formatC(shape, width = -117), "\n")), file)
  writeBin(as.vector(values), file, endian = "little")
  close(file)
}

test_that("rows have the bits of matrices", {
  expected <- trained_on(made$x, made$y)
  x_path <- tempfile(fileext = ".npy")
  y_path <- tempfile(fileext = ".npy")
  save_npy(x_path, made$x)
  save_npy(y_path, made$y)
  sources <- list(bdl_dataset(made$x, made$y), bdl_dataset_npy(x_path, y_path),
                  bdl_dataset(function(rows) list(made$x[rows, , drop = FALSE], made$y[rows]), rows = 100))
  for (source in sources) {
    expect_equal(bdl_dataset_rows(source), 100)
    found <- trained_on(source)
    expect_identical(found$mean, expected$mean)
    expect_equal(bdl_elbo(found$optimizer, source, samples = 3, seed = 1),
                 bdl_elbo(expected$optimizer, made$x, made$y, samples = 3, seed = 1))
    rows <- bdl_read_rows(source, c(7, 1))
    expect_identical(rows, list(x = made$x[c(7, 1), ], y = made$y[c(7, 1), , drop = FALSE]))
  }
  expect_output(print(sources[[1]]), "<bdl_dataset> 100 rows, 2 inputs, 1 targets", fixed = TRUE)
  expect_identical(bdl_read_rows(bdl_dataset(made$x), 1:2), list(x = made$x[1:2, ], y = NULL))
})

test_that("errors of the function come out, and training goes on", {
  calls <- 0
  read <- function(rows) {
    calls <<- calls + 1
    if (calls == 6) stop("the disk is full")
    list(made$x[rows, , drop = FALSE], made$y[rows])
  }
  source <- bdl_dataset(read, rows = 100, inputs = 2, targets = 1)
  optimizer <- learner()
  expect_error(bdl_fit(optimizer, source, epochs = 3), "the disk is full")
  expect_true(bdl_optimizer_progress(optimizer)$step > 0)
  expect_false(bdl_fit(optimizer, source, epochs = 0))
  expect_error(bdl_fit(learner(), bdl_dataset(function(rows) 3, rows = 100, inputs = 2, targets = 1)),
               "must return list(x, y)", fixed = TRUE)
  expect_error(bdl_fit(learner(), bdl_dataset(function(rows) list(1, 2), rows = 100, inputs = 2, targets = 1)),
               "must return a numeric")
})

test_that("what is wrong is said", {
  bad <- made$x
  bad[43, 2] <- NaN
  expect_error(bdl_fit(learner(), bdl_dataset(bad, made$y)), "row 43, column 2", class = "bdl_error_not_finite")
  expect_error(bdl_fit(learner(), bdl_dataset(made$x, made$y), made$y), "its own")
  expect_error(bdl_dataset(function(rows) NULL), "rows must be given")
  expect_error(bdl_dataset_npy(tempfile()), class = "bdl_error_file")
  closed <- bdl_dataset(made$x, made$y)
  close(closed)
  expect_error(bdl_fit(learner(), closed), "closed")
})

test_that("matrices live as long as the data set, and do not change", {
  x <- made$x + 0
  source <- bdl_dataset(x, made$y + 0)
  x[1, 1] <- 99
  rm(x)
  gc()
  expect_identical(bdl_read_rows(source, 1:100)$x, made$x)
})
