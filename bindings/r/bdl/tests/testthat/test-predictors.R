all_methods <- c("monte_carlo", "plug_in", "linearized")

test_that("predictors give the answers of single predictions, to the bit", {
  set.seed(3)
  for (likelihood in c("gaussian", "heteroscedastic", "bernoulli", "categorical")) {
    for (method in all_methods) {
      model <- bdl_model(c(3, 4, 2), "tanh", likelihood)
      size <- bdl_model_parameters(model)
      q <- bdl_posterior(model, 0)
      bdl_posterior_set_low_rank(q, rnorm(size), NULL, rep(20, size))
      predictor <- bdl_predictor(model, q, method, samples = 9, seed = 4)
      number <- get(paste0("BDL_", toupper(method)))
      means <- if (likelihood == "heteroscedastic") 1 else 2
      for (rows in c(1, 5, 2)) {
        x <- matrix(rnorm(3 * rows), rows)
        shape <- c(rows, means)
        once <- bdl_predict(model, q, x, number, 9, 4, shape, shape, shape)
        expect_identical(predict(predictor, x), once)
        law <- bdl_predict_output_distribution(model, q, x, c(rows, 2), c(rows, 4))
        expect_identical(predict(predictor, x, "outputs")$mean, law$mean)
        expect_identical(as.vector(predict(predictor, x, "outputs")$covariance), as.vector(law$covariance))
        if (likelihood %in% c("bernoulli", "categorical")) {
          shape <- c(rows, if (likelihood == "categorical") 1 else 2)
          expect_identical(predict(predictor, x, "prob")[1:2],
                           bdl_predict_classes(model, q, x, number, 9, 4, c(rows, 2), shape, NULL)[1:2])
        } else {
          expect_identical(predict(predictor, x, "interval", level = 0.8),
                           bdl_predict_interval(model, q, x, number, 9, 4, 0.8, shape, shape))
          quantiles <- predict(predictor, x, "quantile", probs = c(0.1, 0.5))
          if (means > 1) quantiles <- matrix(aperm(quantiles, c(1, 3, 2)), rows)
          expect_identical(quantiles,
                           bdl_predict_quantiles(model, q, x, number, 9, 4, c(0.1, 0.5), c(rows, 2 * means)))
        }
      }
    }
  }
})

test_that("draws of several targets are of their targets", {
  model <- bdl_model(c(1, 2))
  q <- bdl_posterior(model, 0)
  bdl_posterior_set_low_rank(q, c(0, 0, 100, -100), NULL, rep(1e6, 4))
  draws <- predict(bdl_predictor(model, q, samples = 50), c(0, 1, 2), "draws")
  expect_identical(dim(draws), c(3L, 2L, 50L))
  expect_true(all(draws[, 1, ] > 50) && all(draws[, 2, ] < -50))
  data <- data.frame(x = 1:30, a = 100 + rnorm(30), b = -100 + rnorm(30))
  fit <- bdl(cbind(a, b) ~ x, data, hidden = 4, epochs = 60, seed = 1)
  draws <- predict(fit, data[1:3, ], type = "draws", samples = 50)
  expect_identical(dim(draws), c(3L, 2L, 50L))
  expect_gt(mean(draws[, 1, ]), 50)
  expect_lt(mean(draws[, 2, ]), -50)
})

test_that("predictors are snapshots that outlive model and posterior", {
  t <- toy()
  bdl_fit(t$optimizer, t$x, t$y, 2)
  predictor <- bdl_predictor(t$model, t$posterior, samples = 9)
  before <- predict(predictor, t$x)
  bdl_fit(t$optimizer, t$x, t$y, 2)
  expect_identical(predict(predictor, t$x), before)
  expect_false(identical(predict(bdl_predictor(t$model, t$posterior, samples = 9), t$x), before))
  for (handle in t[c("optimizer", "model", "posterior")]) close(handle)
  expect_identical(predict(predictor, t$x), before)
  expect_output(print(predictor), "<bdl_predictor> monte_carlo, 9 samples")
  close(predictor)
  expect_error(predict(predictor, t$x), "closed", class = "bdl_error_invalid_argument")
})

test_that("a user's functions live as long as their predictors", {
  predictor <- bdl_predictor(user_line(), bdl_posterior(3, 0), "plug_in")
  gc()
  expect_identical(predict(predictor, matrix(1, 2, 2))$mean, matrix(0, 2, 1))
})
