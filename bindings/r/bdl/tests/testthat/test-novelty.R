test_that("novelty is the leverage over that of the rows of the data", {
  d <- line_data(150)
  fit <- quick(y ~ a + b, d, hidden = 6)
  h <- bdl_handles(fit)
  leverages <- function(x) bdl_predict_leverage(h$model, h$posterior, as.matrix(x), c(nrow(x), 1), c(nrow(x), 1))
  leverage <- function(x) drop(leverages(x)$leverage)
  of_data <- leverage(d[c("a", "b")])
  new <- data.frame(a = c(x = 0, y = 9, z = NA), b = c(0, 9, 1))
  found <- predict(fit, new, type = "novelty")
  expect_equal(unname(found[1:2]), unname(leverage(new[1:2, ])) / mean(of_data))
  expect_identical(is.na(unname(found)), c(FALSE, FALSE, TRUE))
  expect_equal(mean(predict(fit, type = "novelty")), 1)
  expect_equal(bdl_novelty_limit(fit), unname(quantile(leverages(d[c("a", "b")])$left_out, 0.95)) / mean(of_data))
  expect_gt(found[2], bdl_novelty_limit(fit, 0.01))
  expect_identical(predict(bdl_learn_novelty(fit, d), new, type = "novelty"), found)
  expect_equal(predict(bdl_predictor(h$model, h$posterior), new[1:2, ], type = "leverage"),
               lapply(leverages(new[1:2, ]), as.vector))
})

test_that("ensembles have the mean of their members' leverages", {
  d <- line_data()
  fit <- quick(y ~ a + b, d, hidden = 6, seed = 2, members = 2)
  leverage <- function(member) {
    h <- bdl_handles(member)
    drop(bdl_predict_leverage(h$model, h$posterior, as.matrix(d[c("a", "b")]), c(60, 1), NULL)$leverage)
  }
  mean_leverage <- (leverage(fit$members[[1]]) + leverage(fit$members[[2]])) / 2
  expect_equal(unname(predict(fit, type = "novelty")), unname(mean_leverage) / mean(mean_leverage))
  ensemble <- bdl_ensemble(fit$members)
  expect_equal(bdl_novelty_limit(ensemble), bdl_novelty_limit(fit))
  expect_equal(bdl_novelty_limit(bdl_learn_novelty(ensemble, d)), bdl_novelty_limit(fit))
})

test_that("data sets keep leverages of their rows", {
  d <- line_data(700)
  x <- as.matrix(d[c("a", "b")])
  fit <- hushed(bdl(bdl_dataset(x, d$y), hidden = 4, epochs = 5, seed = 1, verbose = FALSE))
  expect_identical(dim(fit$leverages), c(500L, 2L))
  kept <- (seq(0, 499) * 700) %/% 500 + 1
  expect_equal(mean(predict(fit, x[kept, ], type = "novelty")), 1)
})

test_that("without a covariance there is no novelty", {
  d <- line_data()
  expect_error(predict(quick(y ~ a, d, method = "map", hidden = 3), type = "novelty"), "finds a point", class = "bdl_error_unsupported")
  expect_error(bdl_novelty_limit(quick(y ~ a, d, rank = "dropout", hidden = 3)), "dropout posterior has no covariance")
  fit <- quick(y ~ a, d, hidden = 3)
  expect_error(bdl_novelty_limit(fit, 2), "false_alarms must be")
  fit$leverages <- NULL
  expect_error(predict(fit, d, type = "novelty"), "call bdl_learn_novelty")
  expect_error(bdl_learn_novelty(d, d), "must be a fit")
})
