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
