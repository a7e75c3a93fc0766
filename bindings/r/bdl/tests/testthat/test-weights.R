# Weights, trials and offsets of rows, and models of an intercept alone.

weighted_data <- function(n = 60) {
  d <- line_data(n)
  d$w <- rep(0:3, length.out = n)
  d$exposure <- rep(c(1, 10, 100), length.out = n)
  d$k <- rpois(n, d$exposure * exp(0.5 + 0.3 * d$a))
  d
}

repeated <- function(d) d[rep(seq_len(nrow(d)), d$w), ]

# bdl_glm() without a progress bar; the call is made where it was written.
glm_of <- function(...) {
  given <- as.list(substitute(list(...)))[-1]
  eval(as.call(c(list(quote(bdl_glm)), given, list(verbose = FALSE, seed = 1))), parent.frame())
}

expect_same_fit <- function(a, b, tolerance = 1e-9) {
  expect_equal(coef(a), coef(b), tolerance = tolerance)
  expect_equal(vcov(a), vcov(b), tolerance = tolerance)
}

flat <- list(prior_precision = 1e-8)
doses <- data.frame(x = 1:9 / 9, s = c(10, 15, 27, 35, 10, 25, 35, 23, 12), f = c(6, 4, 8, 10, 3, 6, 9, 10, 8))

test_that("a row of weight 2 stands there twice, and one of weight 0 not at all", {
  d <- weighted_data()
  long <- repeated(d)
  expect_same_fit(glm_of(y ~ a + b, d, weights = w), glm_of(y ~ a + b, long))
  expect_same_fit(glm_of(y ~ 0 + a + b, d, weights = w), glm_of(y ~ 0 + a + b, long))
  expect_same_fit(glm_of(class ~ a, d, weights = w), glm_of(class ~ a, long))
  expect_same_fit(glm_of(count ~ a, d, weights = w, family = poisson), glm_of(count ~ a, long, family = poisson))
  fit <- glm_of(y ~ a + b, d, weights = w)
  plain <- glm_of(y ~ a + b, long)
  expect_equal(c(logLik(fit)), c(logLik(plain)))
  expect_equal(bdl_novelty_limit(fit), bdl_novelty_limit(plain))
  expect_identical(nobs(fit), sum(d$w > 0))
  expect_equal(unname(weights(fit)), d$w)
  expect_null(weights(plain))
  in_matrices <- glm_of(as.matrix(d[c("a", "b")]), d$y, weights = d$w)
  expect_same_fit(in_matrices, fit)
})

test_that("weights and offsets are evaluated as those of lm()", {
  d <- weighted_data()
  d$w[5] <- NA
  fit <- glm_of(y ~ a, d, weights = w, offset = b, subset = b < 1, na.action = na.exclude, control = flat)
  usual <- lm(y ~ a, d, weights = w, offset = b, subset = b < 1, na.action = na.exclude)
  expect_equal(coef(fit), coef(usual), tolerance = 1e-4)
  expect_equal(unname(weights(fit)), weights(usual))
  expect_equal(unname(residuals(fit)), unname(residuals(usual)), tolerance = 1e-3)
  expect_identical(nobs(fit), nobs(usual))
  expect_equal(model.frame(fit)[["(weights)"]], model.frame(usual)[["(weights)"]])
  expect_equal(model.offset(model.frame(fit)), model.offset(model.frame(usual)))
  both <- glm_of(y ~ a + offset(b), d, offset = a, subset = !is.na(w))
  expect_same_fit(both, glm_of(y ~ a, d, offset = a + b, subset = !is.na(w)))
})

test_that("offsets are exposures of counts, also of new data", {
  d <- weighted_data()
  term <- glm_of(k ~ a + offset(log(exposure)), d, family = poisson, control = flat)
  argument <- glm_of(k ~ a, d, family = poisson, offset = log(exposure), control = flat)
  usual <- glm(k ~ a + offset(log(exposure)), poisson, d)
  expect_equal(coef(term), coef(usual), tolerance = 1e-3)
  expect_equal(sqrt(diag(vcov(term))), sqrt(diag(vcov(usual))), tolerance = 1e-3)
  new <- data.frame(a = c(0, 1, NA), exposure = c(1, 7, 3))
  expect_equal(predict(term, new), predict(usual, new, type = "response"), tolerance = 1e-3)
  expect_equal(predict(argument, new), predict(term, new))
  expect_equal(fitted(term), fitted(usual), tolerance = 1e-3)
  expect_equal(coef(term), coef(argument))
  elsewhere <- glm_of(k ~ a, d, family = poisson, offset = log(d$exposure))
  expect_error(predict(elsewhere, new), "log(d$exposure), has 60 values, newdata has 3 rows", fixed = TRUE)
  matrices <- glm_of(as.matrix(d["a"]), d$k, family = poisson, offset = log(d$exposure))
  expect_equal(predict(matrices, as.matrix(new[1:2, "a", drop = FALSE]), offset = log(7)) / predict(matrices, as.matrix(new[1:2, "a", drop = FALSE])),
               c(`1` = 7, `2` = 7), ignore_attr = TRUE)
  expect_error(predict(term, new, offset = 1), "the formula has the offset")
})

test_that("successes and failures are the trials one by one", {
  fit <- glm_of(cbind(s, f) ~ x, doses, family = binomial)
  shares <- glm_of(s / (s + f) ~ x, doses, family = "binomial", weights = s + f)
  single <- with(doses, data.frame(x = rep(x, s + f), y = unlist(Map(function(s, f) rep(1:0, c(s, f)), s, f))))
  expect_same_fit(fit, glm_of(y ~ x, single, family = binomial))
  expect_same_fit(fit, shares)
  usual <- glm(cbind(s, f) ~ x, binomial, doses)
  wide <- glm_of(cbind(s, f) ~ x, doses, family = binomial(), control = flat)
  expect_true(all(abs(coef(wide) - coef(usual)) < 0.1 * sqrt(diag(vcov(usual)))))
  expect_equal(c(logLik(wide)), c(logLik(usual)), tolerance = 1e-3)
  expect_identical(nobs(wide), nobs(usual))
  expect_equal(unname(weights(wide)), unname(weights(usual)))
  expect_equal(residuals(wide), residuals(usual, "response"), tolerance = 0.1, ignore_attr = TRUE)
  expect_lt(max(abs(residuals(wide, "pearson") - residuals(usual, "pearson"))), 0.25) # the posterior counts in their scale
  drawn <- simulate(wide, 200, seed = 1)
  expect_named(drawn[[1]], c("s", "f"))
  expect_true(all(vapply(drawn, function(of) all(of$s + of$f == doses$s + doses$f), NA)))
  expect_equal(rowMeans(vapply(drawn, function(of) of$s, numeric(9))), unname(fitted(wide) * (doses$s + doses$f)), tolerance = 0.05)
  expect_true(all(simulate(shares, 3, seed = 1) <= 1))
  one <- data.frame(x = line_data()$a, s = as.integer(line_data()$class == "yes"))
  expect_length(coef(glm_of(cbind(s, 1 - s) ~ x, one, family = binomial)), 2)
  expect_length(coef(glm_of(cbind(s, 1 - s) ~ x, one, family = "bernoulli")), 4)
})

test_that("an intercept alone is a model", {
  d <- weighted_data()
  fit <- glm_of(y ~ 1, d)
  expect_equal(coef(fit), coef(lm(y ~ 1, d)), tolerance = 1e-3)
  expect_equal(dim(vcov(fit)), c(1, 1))
  expect_equal(c(sqrt(vcov(fit))), c(sqrt(vcov(lm(y ~ 1, d)))), tolerance = 0.02)
  expect_identical(rownames(summary(fit)$coefficients), "(Intercept)")
  expect_output(print(fit), "1 parameter\n")
  expect_equal(unname(predict(fit, data.frame(z = 1:2))), rep(unname(coef(fit)), 2))
  rate <- glm_of(k ~ 1, d, family = poisson, offset = log(exposure))
  expect_equal(coef(rate), coef(glm(k ~ 1, poisson, d, offset = log(exposure))), tolerance = 1e-3)
  expect_length(coef(glm_of(cbind(s, f) ~ 1, doses, family = binomial)), 1)
  expect_error(bdl(y ~ 1, d), "y ~ 1 is for bdl_glm()", fixed = TRUE)
  expect_error(bdl_glm(y ~ 0, d), "neither predictors nor an intercept")
})

test_that("aliased columns are named under a flat prior", {
  d <- weighted_data()
  d$z <- d$a + d$b
  expect_message(fit <- glm_of(y ~ a + b + z, d, control = flat), "Aliased: z is a combination")
  expect_output(print(summary(fit)), "Aliased: z")
  expect_silent(glm_of(y ~ a + b + z, d))
  expect_silent(glm_of(y ~ a + b, d, control = flat))
})

test_that("networks, ensembles and searches have weights and offsets", {
  d <- weighted_data()
  d$y[d$w == 0] <- 1e4
  fit <- quick(y ~ a + b, d, weights = w, offset = a, hidden = 4, members = 2, seed = 1)
  expect_lt(max(abs(predict(fit, d))), 100)
  expect_equal(predict(fit, transform(d, w = 1)), predict(fit))
  score <- bdl_cross_validate(glm_of(y ~ a + b, d, weights = w, offset = a))
  expect_gt(score[["score"]], -5)
  tuned <- bdl_tune(glm_of(y ~ a + b, d, weights = w, offset = a), list(prior_precision = c(0.01, 1)), 2, 0, verbose = FALSE)
  expect_equal(unname(weights(tuned)), d$w)
  expect_length(predict(tuned, d), 60)
})

test_that("data sets have columns of weights and offsets", {
  d <- weighted_data()
  x <- as.matrix(d[c("a", "b")])
  data <- bdl_dataset(cbind(x, d$a), cbind(d$y, d$w), row_weights = TRUE, offsets = 1)
  fit <- bdl(data, hidden = integer(0), verbose = FALSE, seed = 1)
  plain <- glm_of(x, d$y, weights = d$w, offset = d$a)
  expect_equal(unname(coef(fit)), unname(coef(plain)))
  expect_equal(bdl_novelty_limit(fit), bdl_novelty_limit(plain))
  expect_error(bdl_dataset(x, d$y, row_weights = TRUE), "weights in its last column")
  expect_error(bdl_dataset(x, d$y, offsets = 2), "fewer than all 2")
})

test_that("a fit that was read from a file has its weights and offsets", {
  d <- weighted_data()
  fit <- glm_of(y ~ a, d, weights = w, offset = b)
  file <- tempfile()
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_equal(predict(again, d), predict(fit, d))
  expect_equal(logLik(again), logLik(fit))
})

test_that("wrong weights are refused in R's terms", {
  d <- weighted_data()
  expect_error(bdl_glm(y ~ a, d, weights = -w), "the weight in row 2 is -1, expected a finite number of at least 0")
  expect_error(bdl_glm(y ~ a, d, weights = 0 * w), "all weights are 0")
  expect_error(bdl_glm(y ~ a, d, weights = 1 / w), "the weight in row 1 is Inf")
  expect_error(bdl_glm(y ~ a, d, offset = log(w)), "the offset in row 1 is -Inf")
  expect_error(bdl_glm(d["a"], d$y, weights = 1:3), "weights has 3 values, expected 60")
  expect_error(bdl_glm(cbind(a, b) ~ y, d, family = binomial), "0 or more", class = "bdl_error_label")
  expect_error(bdl_glm(s / (s + f) ~ x, doses, family = binomial), "shares of successes with the numbers of trials as weights")
  expect_error(bdl_glm(cbind(0 * s, 0 * f) ~ x, doses, family = binomial), "no trials")
  expect_error(weights(glm_of(y ~ a, d), "working"), class = "bdl_error_unsupported")
})

test_that("models say what rows have", {
  model <- bdl_model(c(2, 1))
  expect_equal(c(bdl_model_has_row_weights(model), bdl_model_offset_count(model)), c(0, 0))
  bdl_model_set_row_weights(model, TRUE)
  bdl_model_set_offsets(model, TRUE)
  expect_equal(c(bdl_model_has_row_weights(model), bdl_model_offset_count(model), bdl_model_inputs(model)), c(1, 1, 2))
})
