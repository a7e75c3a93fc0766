# Fits of data sets are those of arrays of the same rows.

same_fit <- function(x, y, data = bdl_dataset(x, y), ...) {
  quiet <- function(...) hushed(bdl(..., seed = 3, samples = 20, verbose = FALSE))
  expected <- quiet(x, if (is.matrix(y) && ncol(y) == 1) drop(y) else y, ...)
  got <- quiet(data, ...)
  expect_identical(unname(coef(got)), unname(coef(expected)))
  expect_equal(unname(predict(got, x)), unname(predict(expected, x)))
  expect_equal(nobs(got), nrow(x))
  got
}

test_that("numbers, classes, images and streams", {
  d <- line_data(48)
  x <- unname(as.matrix(d[c("a", "b")]))
  y <- d$y
  same_fit(x, y, hidden = 5, epochs = 3)
  same_fit(x, cbind(y, y^2), hidden = 5, epochs = 3)
  same_fit(x, y, hidden = 5, epochs = 3, noise = "student_t")
  same_fit(x, y, hidden = 5, method = "lo-fi")
  same_fit(x, d$count, hidden = integer(0), family = "poisson")
  same_fit(x, y, bdl_dataset(function(rows) list(x[rows, ], y[rows]), rows = 48), hidden = 5, epochs = 3)
  same_fit(x, rep(0:1, 24), hidden = 5, epochs = 3, family = "bernoulli")
  classes <- same_fit(x, rep(c(0, 1, 2), 16), hidden = 5, epochs = 3, family = "categorical")
  expect_true(all(predict(classes, x, type = "class") %in% 0:2))
  images <- matrix(0.5 + 0.5 * sin(outer(1:48, 1:64)), 48)
  same_fit(images, rep(0:1, 24), network = "conv 2 3; relu; maxpool 2", image = c(8, 8, 1), epochs = 2, family = "bernoulli")
})

test_that("what a fit of a data set does not have is said", {
  d <- line_data(48)
  x <- unname(as.matrix(d[c("a", "b")]))
  fit <- hushed(bdl(bdl_dataset(x, d$y), hidden = 5, epochs = 3, seed = 3, verbose = FALSE))
  expect_output(print(fit), "48")
  expect_output(print(summary(fit)), "48")
  for (ask in list(predict, residuals, logLik, fitted, simulate)) expect_error(ask(fit), "does not keep")
  expect_error(bdl_cross_validate(fit), "a search takes arrays")
  expect_error(plot(fit, "calibration"), "does not keep")
  again <- unserialize(serialize(fit, NULL))
  expect_equal(predict(again, x), predict(fit, x))
  expect_error(bdl(bdl_dataset(x), verbose = FALSE), "no response")
  expect_error(bdl(bdl_dataset(x, rep(3:4, 24)), family = "categorical", verbose = FALSE), "between 3 and 4")
  expect_error(bdl(bdl_dataset(x, rep(0:2, 16)), family = "bernoulli", verbose = FALSE), "0 or 1, not 2")
  expect_error(bdl(bdl_dataset(x, d$y), hiden = 5), "unknown argument")
})
