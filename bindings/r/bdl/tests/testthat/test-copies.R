# In a process of its own, where no freed memory waits for use. The system's peak is set back before each call.
test_that("inputs are not copied", {
  skip_on_os(c("mac", "windows"))
  bytes <- as.numeric(child_words(c(
    "library(bdl)",
    "status <- function(key) {",
    "  line <- grep(key, readLines('/proc/self/status'), value = TRUE)",
    "  1024 * as.numeric(gsub('[^0-9]', '', line))",
    "}",
    "extra <- function(f) {",
    "  gc()",
    "  writeLines('5', '/proc/self/clear_refs')",
    "  before <- status('VmRSS')",
    "  f()",
    "  status('VmHWM') - before",
    "}",
    "x <- matrix(runif(8e6), 1e6)",
    "model <- bdl_model(c(8, 1))",
    "q <- bdl_posterior(model, 0)",
    "predict_at <- function(x) bdl_predict(model, q, x, BDL_PLUG_IN, 1, 1, c(1e6, 1), NULL, NULL)",
    "cat(extra(function() predict_at(x)), extra(function() predict_at(x + 0)))"
  )))
  expect_lt(bytes[1], 8e6 + 2e7)
  expect_gt(bytes[2], 64e6)
})
