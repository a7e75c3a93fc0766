test_that("handles describe themselves, close, and do not outlive a session", {
  t <- toy()
  expect_output(print(t$model), "network, relu, gaussian likelihood, 2 inputs, 1 outputs, 17 parameters, double")
  expect_output(print(t$posterior), "low_rank, rank 3, 17 parameters, double, blank")
  expect_output(print(t$optimizer), "\"slang-ggn\", 40 examples, 0 steps")
  expect_error(bdl_model_parameters(unserialize(serialize(t$model, NULL))), "saved session")
  close(t$model)
  close(t$model)
  expect_false(bdl_is_open(t$model))
  expect_output(print(t$model), "<bdl_model, closed>")
  expect_error(bdl_model_parameters(t$model), "closed")
  expect_silent(bdl_fit(t$optimizer, t$x, t$y, 1))
})

test_that("handles are freed", {
  make <- function() {
    for (i in 1:300) {
      m <- bdl_model(c(300, 300, 1))
      q <- bdl_posterior(m, 5)
    }
    rm(m, q)
    gc()
  }
  # The peak, as malloc need not give memory back to the system; it settles in the second round.
  for (k in 1:2) make()
  before <- status_bytes("VmHWM")
  make()
  expect_lt(status_bytes("VmHWM") - before, 300 * 90000 * 7 * 8 / 4)
})

test_that("R's values are not written to", {
  t <- toy()
  theta <- mean(t$posterior)
  kept <- theta + 0
  bdl_fit(t$optimizer, t$x, t$y, 2)
  expect_identical(theta, kept)
})

test_that("whole numbers and logicals are targets as they are", {
  t <- toy()
  model <- bdl_model(c(2, 1), likelihood = "bernoulli")
  fit_by <- function(y) {
    q <- bdl_posterior(model, 0)
    bdl_fit(bdl_optimizer(model, q, "slang", 40, seed = 1), t$x, y, 3)
    mean(q)
  }
  expect_identical(fit_by(t$y > 0), fit_by((t$y > 0) + 0))
  expect_identical(fit_by(as.integer(t$y > 0)), fit_by((t$y > 0) + 0))
})

test_that("raw matrices are bytes", {
  x <- matrix(as.raw((1:240)^2 %% 251), 20)
  y <- as.integer(x[, 1] > as.raw(100))
  fit_by <- function(x) {
    model <- bdl_network("input 3 2 2; dense 2", "categorical")
    bdl_model_standardize(model, x, NULL)
    expect_length(unique(c(bdl_model_get_standardization(model, c(1, 12), FALSE, FALSE, FALSE)$input_mean)), 3)
    q <- bdl_posterior(model, 0)
    bdl_fit(bdl_optimizer(model, q, "slang", 20, seed = 1, augment_pad = 1, augment_flip = TRUE), x, y, 3)
    c(mean(q), predict(bdl_predictor(model, q), x))
  }
  expect_identical(fit_by(x), fit_by(matrix(as.numeric(x), 20)))
  expect_error(fit_by(as.raw(1:4)), "numeric matrix")
  predicted_by <- function(x) predict(bdl(x, factor(y), hidden = 3, epochs = 2, seed = 1, verbose = FALSE), x)
  expect_identical(suppressWarnings(predicted_by(x)), suppressWarnings(predicted_by(matrix(as.numeric(x), 20))))
})

test_that("options are listed, set and read", {
  t <- toy()
  table <- bdl_options()
  expect_true(all(c("name", "type", "default", "range", "doc") %in% names(table)))
  bdl_set_options(t$optimizer, learning_rate = 0.5, samples = 7, schedule = "power", learn_noise = FALSE)
  values <- bdl_options(t$optimizer)
  expect_identical(values[c("learning_rate", "samples", "schedule", "learn_noise")],
                   list(learning_rate = 0.5, samples = 7, schedule = "power", learn_noise = 0))
  expect_identical(names(values), table$name)
  expect_true(all(c("slang", "vogn", "lo-fi") %in% bdl_methods()))
})

test_that("training reports, stops when asked, and goes on", {
  t <- toy()
  epochs <- numeric()
  expect_false(bdl_fit(t$optimizer, t$x, t$y, 4, function(o) {
    epochs <<- c(epochs, bdl_optimizer_progress(o)$epoch)
    7
  }))
  expect_identical(epochs, c(1, 2, 3, 4))
  expect_true(bdl_fit(t$optimizer, t$x, t$y, 4, function(o) bdl_optimizer_progress(o)$epoch >= 6))
  expect_equal(bdl_optimizer_progress(t$optimizer)$epoch, 6)
  expect_false(bdl_fit(t$optimizer, t$x, t$y, 0))
  expect_equal(bdl_optimizer_progress(t$optimizer)$epoch, 8)
  expect_true(bdl_fit(t$optimizer, t$x, t$y, 4, function(o) bdl_optimizer_request_stop(o)))
  expect_named(bdl_elbo(t$optimizer, t$x, t$y, seed = 1), c("elbo", "expected_log_likelihood", "kl"))
  steps <- bdl_optimizer_progress(t$optimizer)$step
  bdl_step(t$optimizer, t$x[1:5, ], t$y[1:5])
  expect_equal(bdl_optimizer_progress(t$optimizer)$step, steps + 1)
})

test_that("streams are observed", {
  t <- toy(method = "lo-fi")
  scores <- bdl_observe(t$optimizer, t$x, t$y)
  expect_length(scores, 40)
  expect_equal(bdl_optimizer_prequential(t$optimizer)$log_density, mean(scores))
  expect_null(bdl_observe(t$optimizer, t$x[1, , drop = FALSE], NA_real_, score = FALSE))
})

test_that("models are copied", {
  model <- bdl_model(c(3, 4, 2))
  expect_invisible(bdl_model_set_noise_precision(model, c(2, 3)))
  copy <- bdl_model_copy(model)
  bdl_model_set_noise_precision(copy, 7)
  expect_equal(drop(bdl_model_get_noise_precision(model, c(1, 2))), c(2, 3))
  expect_equal(drop(bdl_model_get_noise_precision(copy, c(1, 1))), 7)
  theta <- bdl_model_initialize(model, BDL_INIT_HE, 1, c(1, bdl_model_parameters(model)))
  values <- bdl_model_evaluate(model, theta, diag(3), c(3, 2))
  expect_identical(bdl_model_evaluate(copy, theta, diag(3), c(3, 2)), values)

  own <- bdl_user_model(function(parameters, inputs) inputs * parameters, sizes = c(1, 1), parameters = 1)
  copy <- bdl_model_copy(own)
  close(own)
  rm(own)
  gc()
  expect_equal(bdl_model_evaluate(copy, 3, matrix(2), c(1, 1)), matrix(6))
})

test_that("posteriors are read, copied and drawn from", {
  q <- bdl_posterior(3, 1)
  bdl_posterior_set_low_rank(q, c(1, 2, 3), matrix(c(1, 0, 1)), c(2, 2, 4))
  dense <- solve(tcrossprod(c(1, 0, 1)) + diag(c(2, 2, 4)))
  expect_identical(mean(q), c(1, 2, 3))
  expect_equal(as.matrix(vcov(q)), dense)
  expect_equal(diag(vcov(q)), diag(dense))
  expect_equal(bdl_posterior_get_low_rank(q, c(3, 1), c(1, 3)),
               list(low_rank = matrix(c(1, 0, 1)), diagonal = t(c(2, 2, 4))))
  copy <- bdl_posterior_copy(q)
  expect_identical(bdl_sample(copy, 4, seed = 3), bdl_sample(q, 4, seed = 3))
  expect_equal(bdl_posterior_kl(q, copy), 0)
  set.seed(1)
  first <- bdl_sample(q, 2)
  set.seed(1)
  expect_identical(bdl_sample(q, 2), first)
})

test_that("checkpoints bring everything back, to the bit", {
  t <- toy()
  bdl_fit(t$optimizer, t$x, t$y, 3)
  path <- tempfile(fileext = ".safetensors")
  expect_identical(bdl_save(path, optimizer = t$optimizer), path)
  expect_identical(bdl_checkpoint_parts(path),
                   c(model = TRUE, user_model = FALSE, posterior = TRUE, optimizer = TRUE))
  loaded <- bdl_load(path)
  expect_identical(mean(loaded$posterior), mean(t$posterior))
  bdl_fit(loaded$optimizer, t$x, t$y, 2)
  bdl_fit(t$optimizer, t$x, t$y, 2)
  expect_identical(mean(loaded$posterior), mean(t$posterior))
  bdl_save(path, posterior = t$posterior)
  expect_null(bdl_load(path)$model)
})

test_that("hyper-parameters are searched", {
  t <- toy()
  search <- bdl_search(t$optimizer, list(learning_rate = c(0.01, 0.2), samples = c(1, 3),
                                         curvature = c("mc-ef", "mc-ggn")), folds = 2, epochs = 3)
  expect_false(bdl_tune(search, t$x, t$y, 3, 1, verbose = FALSE))
  trials <- as.data.frame(search)
  expect_identical(names(trials)[1:3], c("learning_rate", "samples", "curvature"))
  expect_true(all(trials$curvature %in% c("mc-ef", "mc-ggn")))
  bdl_apply_best(search, t$optimizer)
  best <- which.max(trials$score)
  expect_equal(bdl_options(t$optimizer)$learning_rate, trials$learning_rate[best])
  expect_true(bdl_search_run(search, t$x, t$y, 2, 0, function(s) TRUE))
})
