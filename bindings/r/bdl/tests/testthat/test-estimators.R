# Every method of the library through bdl() and bdl_glm(), on few data.

is_for_linear_models <- function(method) bdl_method_describe(method)$is_exact || method == "slang-exact-hess"

test_that("every method fits linear models", {
  d <- line_data()
  for (method in bdl_methods()) {
    fit <- suppressWarnings(bdl_glm(y ~ a + b, d, method = method, epochs = 5, verbose = FALSE))
    expect_identical(fit$settings$method, method)
    expect_true(all(is.finite(predict(fit, d))))
    expect_output(print(fit), method)
    fit <- suppressWarnings(bdl_glm(class ~ a + b, d, method = method, epochs = 5, verbose = FALSE))
    expect_true(all(is.finite(predict(fit, d, type = "prob"))))
  }
})

test_that("every method fits networks, but those for linear models", {
  d <- line_data()
  for (method in bdl_methods()) {
    if (is_for_linear_models(method)) {
      expect_error(quick(y ~ a + b, d, hidden = 3, method = method), "one layer",
                   class = "bdl_error_unsupported")
      next
    }
    fit <- quick(y ~ a + b, d, hidden = 3, method = method)
    expect_true(all(is.finite(predict(fit, d))))
    expect_output(print(summary(fit)), method)
    fit <- quick(g ~ a + b, d, hidden = 3, method = method)
    expect_true(all(is.finite(predict(fit, d, type = "prob"))))
  }
})

test_that("an ELBO says whether training has converged", {
  d <- line_data()
  fit <- bdl_glm(y ~ a + b, d, verbose = FALSE)
  expect_output(print(fit), "(converged)", fixed = TRUE)
  expect_output(print(summary(fit)), "(converged)", fixed = TRUE)
  early <- suppressWarnings(bdl(y ~ a + b, d, hidden = 3, epochs = 1, verbose = FALSE))
  expect_output(print(early), "(see the warning).*Warning: ")
  expect_output(print(summary(early)), "(see the warning).*Warning: ")
})

test_that("methods bring their posterior, and families their method", {
  d <- line_data()
  dropout <- quick(y ~ a + b, d, hidden = 3, method = "mc-dropout")
  expect_identical(dropout$settings$rank, "dropout")
  rates <- unlist(bdl_posterior_dropout_rates(bdl_handles(dropout)$posterior))
  expect_identical(unname(rates), c(bdl_default("input_rate"), bdl_default("hidden_rate")))
  expect_identical(quick(y ~ a + b, d, hidden = 3, rank = "dropout")$settings$method, "mc-dropout")
  expect_identical(quick(y ~ a + b, d, hidden = 3, method = "lo-fi")$history$epoch, 1)
  expect_identical(quick(y ~ a + b, d, hidden = 3, rank = "full_moment")$settings$rank, "full_moment")
})

test_that("options are set together or not at all", {
  t <- toy(method = "map")
  expect_error(bdl_set_options(t$optimizer, rule = "bbb"), "adam", class = "bdl_error_unsupported")
  bdl_set_options(t$optimizer, rule = "bbb", descent = "sgd")
  expect_identical(bdl_options(t$optimizer)$rule, "bbb")
  expect_error(bdl_set_options(t$optimizer, momentum = 0.5, sample = 3), 'did you mean "samples"',
               class = "bdl_error_unknown_option")
  expect_identical(bdl_options(t$optimizer)$momentum, 0.9)
  expect_error(bdl_default("width"), "must be one of", class = "bdl_error_invalid_argument")
})

test_that("members are an ensemble of seeds", {
  d <- line_data()
  fit <- function(...) suppressWarnings(bdl(y ~ a + b, d, hidden = 4, epochs = 5, samples = 10, verbose = FALSE, ...))
  together <- fit(members = 3, seed = 4)
  apart <- bdl_ensemble(lapply(4:6, function(seed) fit(seed = seed)))
  expect_identical(predict(together, d, interval = "prediction"), predict(apart, d, interval = "prediction"))
  expect_identical(dim(simulate(together, 7, seed = 1)), c(nrow(d), 7L))
  again <- unserialize(serialize(together, NULL))
  expect_identical(predict(again, d), predict(together, d))
  for (what in list(logLik, vcov, bdl_handles, bdl_cross_validate, function(x) bdl_save(tempfile(), x))) {
    expect_error(what(together), "3 members", class = "bdl_error_unsupported")
  }
  expect_error(bdl(y ~ a + b, d, hidden = integer(0), members = 2), "one optimum")
  expect_error(fit(members = 0), "members must be")
})

test_that("settings that nothing reads are refused or said", {
  d <- line_data()
  fit <- function(...) bdl(y ~ a + b, d, hidden = 3, verbose = FALSE, ...)
  expect_error(fit(dropout = 0.5), "dropout has the rates of", class = "bdl_error_unsupported")
  expect_error(fit(method = "vogn", rank = 5), "family diagonal")
  expect_error(fit(control = list(forgetting = 0.9)), "read by streams")
  expect_warning(fit(method = "lo-fi", epochs = 50), "whatever epochs is")
  expect_identical(suppressWarnings(fit(method = "swag", rank = 3, epochs = 5))$settings$rank, "low_rank_moment")
})

test_that("linear models with a flat prior have the intervals of lm, for several responses, too", {
  flat <- list(prior_precision = 1e-10, bias_prior_precision = 1e-10)
  right <- lm(cbind(mpg, hp) ~ wt, mtcars)
  fit <- bdl_glm(cbind(mpg, hp) ~ wt, mtcars, seed = 1, control = flat)
  expect_equal(fit$settings$method, "exact-full")
  expect_equal(unname(coef(fit)), c(coef(right)), tolerance = 1e-6)
  expect_equal(unname(sqrt(diag(vcov(fit)))), unname(sqrt(diag(vcov(right)))), tolerance = 1e-5)
  few <- cars[1:6, ]
  one <- bdl_glm(dist ~ speed, few, seed = 1, control = flat)
  expect_equal(unname(confint(one)), unname(confint(lm(dist ~ speed, few))), tolerance = 1e-5)
  expect_equal(unname(predict(one, cars[7:9, ], interval = "prediction")),
               unname(predict(lm(dist ~ speed, few), cars[7:9, ], interval = "prediction")), tolerance = 1e-5)
})
