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

test_that("ensembles predict the equal mixture of their members", {
  set.seed(4)
  member <- function() {
    model <- bdl_model(c(3, 4, 2), "tanh")
    size <- bdl_model_parameters(model)
    q <- bdl_posterior(model, 0)
    bdl_posterior_set_low_rank(q, rnorm(size), NULL, rep(20, size))
    list(model = model, posterior = q)
  }
  members <- replicate(3, member(), simplify = FALSE)
  models <- lapply(members, `[[`, "model")
  posteriors <- lapply(members, `[[`, "posterior")
  ensemble <- bdl_predictor(models, posteriors, samples = 9, seed = 4)
  alone <- Map(function(model, q, j) bdl_predictor(model, q, samples = 9, seed = 3 + j), models, posteriors, 1:3)
  x <- matrix(rnorm(15), 5)
  each <- lapply(alone, predict, x)
  means <- simplify2array(lapply(each, `[[`, "mean"))
  found <- predict(ensemble, x)
  expect_equal(found$mean, apply(means, 1:2, mean), tolerance = 1e-12)
  within <- apply(simplify2array(lapply(each, `[[`, "epistemic_variance")), 1:2, mean)
  between <- apply(means, 1:2, function(m) mean((m - mean(m))^2))
  expect_equal(found$epistemic_variance, within + between, tolerance = 1e-12)
  draws <- predict(ensemble, x, "draws")
  expect_identical(dim(draws), c(5L, 2L, 27L))
  expect_identical(draws[, , 10:18], predict(alone[[2]], x, "draws"))
  expect_error(bdl_predictor(models, posteriors[1:2]), "as many handles", class = "bdl_error_invalid_argument")
  expect_error(bdl_predictor(list(), list()), class = "bdl_error_invalid_argument")
  expect_error(bdl_predictor(list(models[[1]], 3), posteriors[1:2]), "bdl_model handle")
  other <- bdl_model(c(2, 1))
  expect_error(bdl_predictor(list(models[[1]], other), list(posteriors[[1]], bdl_posterior(other, 0))), "member 2: ",
               class = "bdl_error_shape")
})

test_that("ensembles keep the functions of models of one's own", {
  members <- lapply(1:2, function(j) {
    force(j)
    model <- bdl_user_model(function(theta, x) matrix(j + x %*% theta), sizes = c(1, 1), parameters = 1)
    list(model, bdl_posterior(model, family = "full"))
  })
  ensemble <- bdl_predictor(lapply(members, `[[`, 1), lapply(members, `[[`, 2), "plug_in")
  rm(members)
  gc()
  expect_equal(drop(predict(ensemble, 1)$mean), 1.5)
})

test_that("outputs that are no classes have probability 0", {
  model <- bdl_model(c(2, 4), likelihood = "categorical")
  expect_equal(bdl_classes(model), 0:3)
  bdl_set_classes(model, c(3, 2))
  expect_equal(bdl_classes(model), 2:3)
  p <- predict(bdl_predictor(model, bdl_posterior(model, 0)), matrix(1:2, 1), "prob")$probabilities
  expect_true(all(p[1:2] == 0) && abs(sum(p) - 1) < 1e-12)
  bdl_set_classes(model)
  expect_equal(bdl_classes(model), 0:3)
  expect_error(bdl_set_classes(model, c(1, 1)), "twice")
})

test_that("fits make an ensemble", {
  set.seed(5)
  data <- data.frame(x = runif(50, -2, 2))
  data$y <- sin(2 * data$x) + rnorm(50, sd = 0.1)
  fits <- lapply(1:3, function(j) bdl(y ~ x, data, hidden = 6, epochs = 20, samples = 10, seed = j))
  ensemble <- bdl_ensemble(fits)
  new <- data.frame(x = c(-1, 0, NA, 5))
  each <- sapply(fits, predict, new, method = "plug_in")
  expect_equal(predict(ensemble, new, method = "plug_in"), rowMeans(each), tolerance = 1e-12)
  errors <- predict(ensemble, new, se.fit = TRUE, method = "plug_in")
  expect_equal(errors$se.fit, apply(each, 1, function(m) sqrt(mean((m - mean(m))^2))), tolerance = 1e-12)
  limits <- predict(ensemble, new, interval = "prediction")
  expect_true(all(limits[-3, "lwr"] < limits[-3, "upr"]))
  expect_identical(dim(predict(ensemble, new, type = "draws")), c(4L, 30L))
  expect_identical(dim(predict(ensemble, new, type = "quantile")), c(4L, 3L))
  expect_output(print(ensemble), "Deep ensemble of 3 members")
  again <- unserialize(serialize(ensemble, NULL))
  expect_identical(predict(again, new), predict(ensemble, new))
  expect_error(bdl_ensemble(list()), class = "bdl_error_invalid_argument")
  data$z <- factor(ifelse(data$x > 0, "high", "low"))
  classes <- bdl_ensemble(lapply(1:2, function(j) bdl(z ~ x, data, hidden = 4, method = "map", epochs = 30, seed = j)))
  p <- predict(classes, data, type = "prob")
  expect_equal(p, Reduce(`+`, lapply(classes$members, predict, data, type = "prob")) / 2, tolerance = 1e-12)
  expect_true(mean(predict(classes, data, type = "class") == data$z) > 0.9)
  expect_error(bdl_ensemble(fits[[1]], classes$members[[1]]), "family or levels", class = "bdl_error_invalid_argument")
})

test_that("predictors answer of means and links as fits do", {
  fit <- bdl_glm(am ~ wt, mtcars, family = "binomial", seed = 1, verbose = FALSE)
  handles <- bdl_handles(fit)
  x <- as.matrix(mtcars[1:5, "wt", drop = FALSE])
  predictor <- bdl_predictor(handles$model, handles$posterior, "quadrature")
  limits <- predict(predictor, x, "interval", of = "mean", level = 0.9)
  found <- predict(fit, mtcars[1:5, ], interval = "confidence", level = 0.9)
  expect_equal(drop(limits$lower), unname(found[, "lwr"]))
  expect_equal(drop(limits$upper), unname(found[, "upr"]))
  expect_equal(drop(predict(predictor, x, "quantile", probs = 0.5, of = "link")), unname(predict(fit, mtcars[1:5, ], type = "link")))
  expect_equal(dim(predict(predictor, x, "draws", of = "mean")), c(5L, 500L))
  expect_error(predict(predictor, x, "interval", of = "link", level = 2), "level")
})
