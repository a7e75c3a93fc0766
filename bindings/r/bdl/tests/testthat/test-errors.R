test_that("every bad call is an error of its class, with a message, and the host lives on", {
  space <- bad_call_space()
  results <- Map(fails_as_said, bad_calls, names(bad_calls), list(space))
  expect_identical(Filter(Negate(isTRUE), unname(results)), list())
  expect_gt(length(bad_calls), 100)
})

test_that("conditions carry message, call and classes, and are caught by each of them", {
  t <- toy()
  e <- tryCatch(bdl_optimizer_step(t$optimizer, t$x, 1), bdl_error_shape = identity)
  expect_s3_class(e, c("bdl_error_shape", "bdl_error", "error", "condition"), exact = TRUE)
  expect_identical(conditionCall(e)[[1]], quote(bdl_optimizer_step))
  expect_match(conditionMessage(e), "y has 1 rows, expected 40")
  expect_identical(tryCatch(bdl_optimizer_step(t$optimizer, t$x, 1), bdl_error = function(e) "caught"), "caught")
})

test_that("a failed call changes nothing", {
  t <- toy()
  bdl_fit(t$optimizer, t$x, t$y, 3)
  before <- mean(t$posterior)
  expect_error(bdl_fit(t$optimizer, t$x, t$y[-1], 3), class = "bdl_error_shape")
  expect_identical(mean(t$posterior), before)
  expect_equal(bdl_optimizer_progress(t$optimizer)$epoch, 3)
})

test_that("messages count rows, columns and the like from 1", {
  x <- cbind(a = c(1, 2, 3), b = c(1, NaN, 3))
  says <- function(call, place) {
    message <- tryCatch({
      call
      "nothing"
    }, bdl_error = conditionMessage)
    expect_match(message, place, fixed = TRUE)
    expect_no_match(message, "counting from", fixed = TRUE)
  }
  says(bdl_glm(x, 1:3), "at row 2, column 2")
  says(bdl_model_standardize(bdl_model(c(2, 1)), x, NULL), "at row 2, column 2")
  says(bdl_metric_accuracy(matrix(0.5, 2, 2), c(0, 2)), "y is 2 at row 2, expected a class number 0 to 1")
  says(bdl_metric_brier(matrix(c(0.5, 0.5, 0.5, 0.6), 2, byrow = TRUE), c(0, 1)), "has sum 1.1 in row 2")
  says(bdl_metric_nll(matrix(c(0.5, 1, 0.5, 0), 2), c(0, 1)), "to label 1 of row 2")
  says(bdl_metric_coverage(c(0, 1), c(1, 0), c(0, 0)), "at row 2, column 1")
  says(bdl_set_classes(bdl_model(c(2, 3), likelihood = "categorical"), c(0, 3)), "has 3 at column 2")
  says(bdl_set_tensors(bdl_posterior(3, rank = 0), list(diagonal = c(1, 0, 1))), "at row 1, column 2")
  says(bdl_read_rows(bdl_dataset(x[, 1, drop = FALSE]), 0:1), "rows has 0, expected 1 to 3")
  says(bdl_read_rows(bdl_dataset(x[, 1, drop = FALSE]), 4), "rows has 4, expected 1 to 3")
  says(predict(bdl_glm(dist ~ speed, cars, verbose = FALSE), type = "prob"), "is for classes, the family is gaussian")
  expect_identical(bdl:::numbered_from_1("columns 0 and 9 (counting from 0): 7 rows"), "columns 1 and 10: 7 rows")
  expect_identical(bdl:::numbered_from_1("row 0, column 9"), "row 0, column 9")
})

test_that("messages name values in a line", {
  big <- as.list(1:10000)
  names(big) <- paste0("a", 1:10000)
  calls <- list(function() do.call(bdl, c(list(dist ~ speed, cars), big)),
                function() bdl(dist ~ speed, cars, control = list(learning_rate = unlist(big)), verbose = FALSE),
                function() bdl(dist ~ speed, cars, control = list(weights = unlist(big)), verbose = FALSE),
                function() bdl(dist ~ speed, cars, activation = names(big)),
                function() bdl(dist ~ speed, cars, family = names(big)),
                function() bdl(dist ~ speed, cars, noise = names(big)),
                function() bdl(dist ~ speed, cars, method = names(big)),
                function() bdl(dist ~ speed, cars, rank = names(big)))
  for (call in calls) expect_lt(nchar(tryCatch(call(), error = conditionMessage)), 700)
})
