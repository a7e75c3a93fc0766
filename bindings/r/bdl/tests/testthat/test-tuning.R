# Cross-validation and tuning of fits, by any number of workers; searches on ranks.

test_that("cross-validation does not depend on workers", {
  d <- line_data(45)
  for (fit in list(quick(y ~ a + b, d, hidden = 5, seed = 3), quick(class ~ a + b, d, hidden = 5, seed = 3),
                   quick(y ~ a + b, d, hidden = integer(0), seed = 3))) {
    scores <- lapply(list(1, 2, 5, NULL), function(n) bdl_cross_validate(fit, folds = 3, workers = n))
    for (score in scores) expect_identical(score, scores[[1]])
    expect_named(scores[[1]], c("score", "standard_error"))
    expect_true(all(is.finite(scores[[1]])) && scores[[1]][["standard_error"]] > 0)
  }
})

test_that("fits are tuned, by any number of workers", {
  d <- line_data(45)
  fit <- quick(y ~ a + b, d, hidden = 5, seed = 3)
  ranges <- list(learning_rate = c(0.005, 0.2), samples = c(1, 4), curvature = c("mc-ef", "mc-ggn"))
  tune <- function(n) {
    hushed(bdl_tune(fit, ranges, random = 2, bayesian = 2, folds = 3, parallel_trials = 2, verbose = FALSE, workers = n))
  }
  tuned <- tune(1)
  other <- tune(3)
  expect_identical(tuned$trials, other$trials)
  expect_identical(coef(tuned), coef(other))
  expect_equal(nrow(tuned$trials), 4)
  best <- tuned$trials[which.max(tuned$trials$score), ]
  again <- quick(y ~ a + b, d, hidden = 5, seed = 3, control = as.list(best[names(ranges)]))
  expect_identical(coef(tuned), coef(again))
  expect_identical(coef(hushed(update(tuned))), coef(again))
  expect_equal(predict(tuned, d), predict(again, d))
  expect_identical(coef(fit), coef(quick(y ~ a + b, d, hidden = 5, seed = 3)))  # it stays as it is
})

test_that("what is wrong is said", {
  fit <- quick(y ~ a + b, line_data(45), hidden = 5, seed = 3)
  expect_error(bdl_cross_validate(fit, workers = -1), class = "bdl_error_invalid_argument")
  expect_error(bdl_cross_validate(1), "must be a fit")
  expect_error(bdl_tune(fit, list()), "ranges must be")
  expect_error(bdl_tune(fit, list(learning_rat = c(0.1, 1))), class = "bdl_error_unknown_option")
  expect_error(bdl_tune(fit, list(samples = c(1, 2)), wokers = 2), "unknown argument wokers")
  old <- fit
  old$asked <- NULL
  expect_error(bdl_cross_validate(old), "older version")
})

test_that("a rank of one searches as if alone", {
  t <- toy()
  new <- function() bdl_search(t$optimizer, list(learning_rate = c(0.01, 0.2)), folds = 2, epochs = 2, parallel_trials = 2)
  alone <- new()
  bdl_tune(alone, t$x, t$y, 2, 2, verbose = FALSE, workers = 2)
  search <- new()
  calls <- 0
  bdl_set_communicator(search, bdl_communicator(list(rank = 0, size = 1, exchange = function(peer, message) stop("no peer"),
    all_gather = function(message) {
      calls <<- calls + 1
      list(message)
    })))
  gc()
  bdl_tune(search, t$x, t$y, 2, 2, verbose = FALSE)
  expect_gt(calls, 0)
  expect_identical(as.data.frame(search), as.data.frame(alone))
  bdl_set_communicator(search, NULL)
})
