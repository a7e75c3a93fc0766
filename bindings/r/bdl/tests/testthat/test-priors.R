# Posteriors as priors, and all that posteriors consist of.

part <- function(q, method, x, y, prior) {
  model <- bdl_model(c(ncol(x), 1), "identity", "gaussian", FALSE)
  bdl_model_set_noise_precision(model, 4)
  optimizer <- bdl_optimizer(model, q, method, nrow(x), learn_prior = 0, learn_noise = 0, threads = 1)
  bdl_set_prior(optimizer, prior)
  if (bdl_method_describe(method)$is_stream == 1) {
    bdl_set_options(optimizer, block = 0)
    bdl_observe(optimizer, x, y)
  } else {
    bdl_fit(optimizer, x, y, 500)
  }
  q
}

test_that("two parts, one after the other, are the whole", {
  i <- 0:19
  x <- outer(i, 1:3, function(i, k) sin(1.3 * i * k + 0.4))
  signs <- sapply(0:2, function(k) ifelse(bitwAnd(i, k) %in% c(1, 2), -1, 1))
  courses <- list(c("full", "exact-full"), c("layerwise_full", "exact-full"), c("low_rank", "lo-fi"),
                  c("diagonal", "exact-diagonal"))
  for (course in courses) {
    is_diagonal <- course[1] == "diagonal"
    x_here <- if (is_diagonal) signs else x
    y <- cos(0.9 * i) + x_here[, 2]
    create <- function() bdl_posterior(3, if (is_diagonal) 0 else 3, if (is_diagonal) "low_rank" else course[1])
    first <- part(create(), course[2], x_here[1:12, ], y[1:12], create())
    second <- part(create(), course[2], x_here[13:20, ], y[13:20], first)
    precision <- diag(3) + 4 * crossprod(x_here)
    expect_lt(max(abs(mean(second) - solve(precision, 4 * crossprod(x_here, y)))), 1e-9)
    expect_lt(max(abs(as.matrix(vcov(second)) - solve(precision))), 1e-9)
  }
})

test_that("a fit is the prior of the next one", {
  x <- matrix(sin(1:60), 30)
  y <- x[, 1] + cos(1:30)
  first <- bdl_glm(x[1:20, ], y[1:20], verbose = FALSE)
  second <- bdl_glm(x[21:30, ], y[21:30], prior = first, verbose = FALSE)
  expect_true(all(diag(as.matrix(vcov(second))) < diag(as.matrix(vcov(first)))))
  network <- bdl(x, y, hidden = 4, rank = "layerwise_full", epochs = 5, verbose = FALSE, seed = 1,
                 prior = bdl_posterior(17, 2)) |> suppressWarnings()
  expect_s3_class(network, "bdl")
  expect_error(bdl_set_prior(bdl_handles(first)$optimizer, bdl_posterior(2, 0)), class = "bdl_error_shape")
})

test_that("covariances of low rank plus diagonal are set and read", {
  q <- bdl_posterior(3, 2, "low_rank_moment")
  w <- rbind(c(1, 0), c(1, 2), c(0, 0.5))
  bdl_set_tensors(q, list(low_rank = w, diagonal = c(0.1, 0.2, 0.3)))
  expect_equal(as.matrix(vcov(q)), tcrossprod(w) + diag(c(0.1, 0.2, 0.3)), ignore_attr = TRUE)
  expect_error(bdl_posterior(3, 2, "layerwise_low_rank_moment"), "needs its model")
})

test_that("Kronecker-factored precisions are set and read", {
  q <- bdl_posterior(bdl_model(c(2, 3, 1)), family = "kronecker")
  bdl_set_tensors(q, list(block1.precision = cbind(c(1, 2, 4, 8))))
  expect_equal(diag(as.matrix(vcov(q)))[10:13], 1 / c(1, 2, 4, 8), ignore_attr = TRUE)
  expect_error(bdl_posterior(3, family = "kronecker"), "needs its model")
})

test_that("posteriors are their tensors", {
  q <- bdl_posterior_create_blockwise_full(2, c(2, 1))
  bdl_set_tensors(q, list(mean = 1:3, block0.precision = rbind(c(2, 1), c(1, 2))))
  expect_equal(diag(as.matrix(vcov(q))), c(2 / 3, 2 / 3, 1))
  other <- bdl_posterior_create_blockwise_full(2, c(2, 1))
  expect_identical(bdl_tensors(bdl_set_tensors(other, bdl_tensors(q))), bdl_tensors(q))
  low_rank <- bdl_posterior(3, 0)
  expect_identical(bdl_tensors(bdl_set_tensors(low_rank, bdl_tensors(low_rank)))$diagonal, c(1, 1, 1))
  expect_error(bdl_set_tensors(q, list(mean = 1:2)), class = "bdl_error_shape")
  expect_error(bdl_set_tensors(q, list(1:3)), class = "bdl_error")
  expect_error(bdl_set_tensors(q, list(block0.precision = -diag(2))), "not positive definite")
  expect_identical(mean(q), c(1, 2, 3))
})

line <- function(n = 30) {
  i <- seq_len(n)
  d <- data.frame(a = 100 + 3 * sin(1.7 * i), b = 0.01 * cos(2.3 * i))
  d$y <- 40 + 2 * d$a - 30 * d$b + 2 * cos(5.1 * i)
  d
}

test_that("normal priors are in the units of the data", {
  d <- line()
  prior <- list("(Intercept)" = normal(20, 10), a = normal(1.5, 0.2), b = normal(0, 5))
  fit <- bdl_glm(y ~ a + b, d, prior = prior, seed = 1, verbose = FALSE, control = list(learn_noise = 0))
  tau <- 1 / drop(summary(fit)$noise)^2
  z <- cbind(1, d$a, d$b)
  precision <- diag(c(10, 0.2, 5)^-2) + tau * crossprod(z)
  expected <- solve(precision, tau * crossprod(z, d$y) + c(20, 1.5, 0) / c(10, 0.2, 5)^2)
  sd <- sqrt(diag(solve(precision)))
  expect_lt(max(abs(coef(fit) - expected) / sd), 1e-7)
  expect_equal(unname(sqrt(diag(vcov(fit)))), sd, tolerance = 1e-8)
  frame <- data.frame(term = names(prior), location = c(20, 1.5, 0), scale = c(10, 0.2, 5))
  same <- bdl_glm(y ~ a + b, d, prior = frame, seed = 1, verbose = FALSE, control = list(learn_noise = 0))
  expect_identical(coef(same), coef(fit))
  expect_equal(summary(fit)$coefficient_priors$scale, c(10, 0.2, 5))
  expect_output(print(summary(fit)), "(Intercept) normal(20, 10), a normal(1.5, 0.2), b normal(0, 5)", fixed = TRUE)
  effective <- attr(logLik(fit), "effective")  # tr(H (H + P)^-1) with the curvature H of the data
  expect_equal(effective, 3 - sum(c(10, 0.2, 5)^-2 * sd^2) + 1, tolerance = 1e-7)  # the noise counts as one
  expect_identical(coef(unserialize(serialize(fit, NULL))), coef(fit))
})

test_that("flat priors give lm, and one prior is that of slopes", {
  d <- line()
  flat <- normal(0, Inf)
  fit <- bdl_glm(y ~ a + b, d, prior = list("(Intercept)" = flat, a = flat, b = flat), seed = 1, verbose = FALSE)
  expect_equal(coef(fit), coef(lm(y ~ a + b, d)), tolerance = 1e-8)
  slopes <- bdl_glm(y ~ a + b, d, prior = normal(0, c(0.5, 3)), seed = 1, verbose = FALSE)
  priors <- summary(slopes)$coefficient_priors
  expect_equal(priors$scale[2:3], c(0.5, 3))
  expect_equal(priors$location[1], mean(d$y))
})

test_that("networks have priors by layer and predictor", {
  d <- line()
  fit <- bdl(y ~ a + b, d, hidden = 3, noise = "gaussian", epochs = 5, seed = 1, verbose = FALSE,
             prior = list(layer1.weight = normal(0, 0.25), b = normal(0, 0.001))) |> suppressWarnings()
  precision <- drop(bdl_optimizer_get_prior(bdl_handles(fit)$optimizer, c(1, 13)))
  expect_equal(precision[c(2, 4, 6)], rep(1e6, 3))
  expect_equal(precision[10:12], rep(16, 3))
})

test_that("mistakes in priors are explained", {
  d <- line()
  refused <- function(prior, text) {
    expect_error(bdl_glm(y ~ a + b, d, prior = prior, seed = 1, verbose = FALSE), text, fixed = TRUE, class = "bdl_error")
  }
  refused(list(Intercept = normal(0, 1)), "did you mean \"(Intercept)\"?")
  refused(list(weight = normal(0, 1)), "expected one of (Intercept), a, b")
  refused(list(a = 3), "prior a is not normal(location, scale)")
  refused(list(normal(0, 1)), "prior is a list without names")
  refused(normal(0, 1:3), "prior has 3 numbers, expected 1 or 2")
  expect_error(normal(0, -1), "scale must be positive numbers", class = "bdl_error")
})
