# A child process gets SIGINT during a long fit.
interrupted_child <- function(call) {
  sent <- tempfile()
  child_words(c(
    "library(bdl)",
    "set.seed(1); n <- 20000; x <- matrix(rnorm(n * 20), n); y <- x[, 1]",
    "m <- bdl_model(c(20, 100, 1)); q <- bdl_posterior(m, 5); o <- bdl_optimizer(m, q, 'slang-ggn', n, threads = 1)",
    "bdl_fit(o, x[1:200, ], y[1:200], 1)",
    sprintf("system(paste(\"sh -c '(sleep 0.5; date +%%s.%%N > %s; kill -INT\", Sys.getpid(), ') >/dev/null 2>&1 &\\''))",
            sent),
    sprintf("r <- tryCatch(%s, interrupt = function(e) 'interrupted')", call),
    "now <- as.numeric(Sys.time())",
    sprintf("cat(r, now - as.numeric(readLines('%s')), bdl_optimizer_progress(o)$step, all(is.finite(mean(q))))", sent)
  ))
}

expect_interrupted <- function(answer, latency = 0.2) {
  expect_identical(answer[1], "interrupted")
  expect_lt(as.numeric(answer[2]), latency)
  expect_gt(as.numeric(answer[3]), 10)
  expect_identical(answer[4], "TRUE")
}

test_that("Ctrl-C ends a long fit within 0.2 s and leaves a handle that works", {
  skip_on_os("windows")
  expect_interrupted(interrupted_child("bdl_fit(o, x, y, 1000)"))
  expect_interrupted(interrupted_child("bdl_fit(o, x, y, 1000, function(o) NULL)"))
})

test_that("Ctrl-C ends a long prediction", {
  skip_on_os("windows")
  expect_interrupted(interrupted_child("bdl_predict(m, q, x, 1, 1e5, 1, c(n, 1), NULL, NULL)"))
})
