test_that("a custom model is learned", {
  t <- toy()
  model <- user_line()
  q <- bdl_posterior(model, family = "full")
  bdl_fit(bdl_optimizer(model, q, "slang-ggn", 40), t$x, t$y, 200)
  expect_equal(mean(q), unname(coef(lm(t$y ~ t$x))[c(2, 3, 1)]), tolerance = 0.05)
  jacobian <- bdl_model_jacobian(model, c(1, 2, 3), t$x, c(40, 3))
  expect_equal(jacobian, cbind(t$x, 1))
  path <- tempfile()
  bdl_save(path, model, q)
  expect_true(bdl_checkpoint_parts(path)[["user_model"]])
  expect_error(bdl_load(path), class = "bdl_error")
  expect_identical(mean(bdl_load(path, user_line())$posterior), mean(q))
})

test_that("functions are kept with the last handle that needs them, and go with it", {
  t <- toy()
  gone <- 0
  make <- function() {
    marker <- new.env()
    reg.finalizer(marker, function(e) gone <<- gone + 1)
    outputs <- function(theta, x) x %*% theta[1:2] # its environment holds marker, and all handles
    model <- bdl_user_model(outputs, function(theta, x, seed) cbind(seed[, 1] * x, 0), c(2, 1), 3)
    q <- bdl_posterior(model, 0)
    optimizer <- bdl_optimizer(model, q, "slang", 40)
    bdl_optimizer_set_draws(optimizer, function(kind, step, iteration, q, count) bdl_sample(q, count, seed = 1))
    search <- bdl_search(optimizer, list(learning_rate = c(0.1, 1)), folds = 2, epochs = 1)
    bdl_save(path, optimizer = optimizer)
    loaded <- bdl_load(path, model)
    list(optimizer = optimizer, search = search, loaded = loaded$optimizer)
  }
  path <- tempfile()
  handles <- make()
  gc()
  gc()
  expect_identical(gone, 0)
  expect_silent(bdl_step(handles$optimizer, t$x, t$y))
  expect_silent(bdl_tune(handles$search, t$x, t$y, 1, 0, verbose = FALSE))
  expect_silent(bdl_step(handles$loaded, t$x, t$y))
  rm(handles)
  gc()
  gc()
  expect_identical(gone, 1)
})

test_that("conditions, restarts and returns leave callbacks unchanged", {
  t <- toy()
  fit <- function(f) bdl_fit(t$optimizer, t$x, t$y, 2, f)
  mine <- structure(class = c("mine", "error", "condition"), list(message = "m", call = NULL, data = 1:3))
  expect_identical(tryCatch(fit(function(o) stop(mine)), mine = identity), mine)
  expect_identical(tryCatch(fit(function(o) signalCondition(structure(class = c("note", "condition"), list()))),
                            note = function(n) "noted"), "noted")
  expect_identical(withRestarts(fit(function(o) invokeRestart("leave", 7)), leave = function(v) v + 1), 8)
  expect_identical((function() { fit(function(o) 1); "past" })(), "past")
  expect_identical(callCC(function(k) fit(function(o) k("jumped"))), "jumped")
  expect_warning(bdl_fit(t$optimizer, t$x, t$y, 1, function(o) warning("watch")), "watch")
  e <- tryCatch(fit(function(o) undefined_function()), error = identity)
  expect_match(conditionMessage(e), "undefined_function")
  expect_silent(bdl_step(t$optimizer, t$x, t$y))
})

test_that("errors of a custom model are its own, wherever it is called", {
  t <- toy()
  model <- user_line(function(theta, x) stop("in outputs"))
  q <- bdl_posterior(model, 0)
  optimizer <- bdl_optimizer(model, q, "slang", 40)
  expect_error(bdl_step(optimizer, t$x, t$y), "^in outputs$")
  expect_error(bdl_model_evaluate(model, 1:3 + 0, t$x, c(40, 1)), "^in outputs$")
  expect_error(bdl_predict(model, q, t$x, 1, 3, 1, c(40, 1), NULL, NULL), "^in outputs$")
  expect_error(bdl_observe(optimizer, t$x, t$y), "^in outputs$")
  search <- bdl_search(optimizer, list(learning_rate = c(0.1, 1)), folds = 2, epochs = 1)
  expect_error(bdl_tune(search, t$x, t$y, 2, 0, verbose = FALSE), "^in outputs$")
})

test_that("a callback reads, and changes nothing that is at work", {
  t <- toy()
  seen <- NULL
  fit <- function(f) bdl_fit(t$optimizer, t$x, t$y, 1, f)
  fit(function(o) seen <<- list(o, bdl_optimizer_running_elbo(o, TRUE), mean(t$posterior)))
  expect_length(seen[[3]], 17)
  expect_identical(seen[[1]], t$optimizer)
  expect_error(fit(function(o) bdl_step(t$optimizer, t$x, t$y)), "read only")
  expect_error(fit(function(o) bdl_step(o, t$x, t$y)), "read only")
  expect_error(fit(function(o) close(t$optimizer)), "while a callback runs")
  expect_error(fit(function(o) bdl_posterior_update(t$posterior, matrix(0, 1, 17), 1, 1, 0.1, 1)), "read only")
  inner <- NULL
  fit(function(o) {
    own <- bdl_posterior_copy(t$posterior)
    bdl_posterior_update(own, matrix(0, 1, 17), 1, 0.1, 0.1, 1)
    other <- toy()
    inner <<- bdl_fit(other$optimizer, other$x, other$y, 2, function(o) bdl_optimizer_progress(o)$epoch >= 1)
  })
  expect_true(inner)
})

test_that("draws come from where they are told to", {
  t <- toy()
  asked <- list()
  kept <- NULL
  bdl_optimizer_set_draws(t$optimizer, function(kind, step, iteration, q, count) {
    asked <<- c(asked, list(list(kind, step, iteration, count)))
    kept <<- q
    bdl_sample(q, count, seed = step)
  })
  bdl_step(t$optimizer, t$x, t$y)
  expect_identical(asked, list(list("parameters", 0, 0, 2)))
  expect_error(mean(kept), "closed")
  bdl_optimizer_set_draws(t$optimizer, function(kind, step, iteration, q, count) {
    kept <<- q
    stop("no draws")
  })
  expect_error(bdl_step(t$optimizer, t$x, t$y), "no draws")
  expect_error(mean(kept), "closed")
  bdl_optimizer_set_draws(t$optimizer, function(...) matrix(0, 1, 1))
  expect_error(bdl_step(t$optimizer, t$x, t$y), "2 x 17", class = "bdl_error_callback")
  bdl_optimizer_set_draws(t$optimizer, NULL)
  bdl_step(t$optimizer, t$x, t$y)
  expect_length(asked, 1)
})

test_that("garbage collection at every allocation is survived", {
  t <- toy(n = 5)
  model <- user_line()
  q <- bdl_posterior(model, 1)
  optimizer <- bdl_optimizer(model, q, "slang", 5)
  gctorture(TRUE)
  on.exit(gctorture(FALSE))
  bdl_optimizer_fit(optimizer, t$x, t$y, 2, function(o) NULL)
  caught <- tryCatch(bdl_optimizer_fit(optimizer, t$x, t$y, 1, function(o) stop("x")), error = function(e) "caught")
  moments <- bdl_predict(model, q, t$x, 1, 3, 1, c(5, 1), c(5, 1), NULL)
  size <- bdl_save_bytes(model, q, NULL, NULL)$size
  parts <- bdl_load_bytes(bdl_save_bytes(model, q, NULL, size)$buffer, model, TRUE, TRUE, FALSE)
  gctorture(FALSE)
  expect_identical(caught, "caught")
  expect_length(moments$epistemic_variance, 5)
  expect_identical(mean(parts$posterior), mean(q))
})
