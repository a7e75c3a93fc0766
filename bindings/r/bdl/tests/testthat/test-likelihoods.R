# Links, negative binomial, Gamma and ordinal models, against glm(), MASS and the definitions.

flat <- function(...) {
  bdl(..., hidden = c(), verbose = FALSE, seed = 1, control = list(prior_precision = 1e-8, bias_prior_precision = 1e-8))
}

# Many copies of the rows: the posterior is then as narrow as the likelihood's normal approximation is exact.
copies <- function(data, times) data[rep(seq_len(nrow(data)), times), ]

expect_near <- function(fit, estimate, error, at_most = 0.02) {
  names <- intersect(names(coef(fit)), names(estimate))
  expect_gt(length(names), 0)
  expect_lt(max(abs(coef(fit)[names] - estimate[names]) / error[names]), at_most)
}

test_that("links are those of glm", {
  data <- copies(transform(mtcars, heavy = wt > 3.2), 40)
  for (link in c("probit", "cloglog")) {
    reference <- glm(am ~ hp, binomial(link), data)
    fit <- flat(am ~ hp, data, family = binomial(link))
    expect_near(fit, coef(reference), sqrt(diag(vcov(reference))), 0.05)
    mean <- predict(fit, mtcars)
    expect_equal(unname(mean), unname(predict(reference, mtcars, type = "response")), tolerance = 0.01)
    expect_equal(predict(fit, mtcars, type = "class"), unname((mean > 0.5) + 0), ignore_attr = TRUE)
  }
  expect_equal(fit$family, "cloglog")
  expect_error(bdl(am ~ hp, mtcars, family = binomial("cauchit")), "not supported")
})

test_that("negative binomial fits are those of glm.nb", {
  skip_if_not_installed("MASS")
  data <- copies(MASS::quine, 20)
  reference <- MASS::glm.nb(Days ~ Sex + Age, data)
  fit <- flat(Days ~ Sex + Age, data, family = "negative_binomial")
  expect_near(fit, coef(reference), sqrt(diag(vcov(reference))), 0.05)
  expect_lt(abs(summary(fit)$shape - reference$theta) / reference$SE.theta, 0.5)
  expect_output(print(summary(fit)), "Shape:")
  few <- predict(fit, MASS::quine[1:3, ], type = "quantile", probs = c(0.1, 0.9))
  expect_equal(unname(few[, 2]), qnbinom(0.9, size = reference$theta, mu = predict(reference, MASS::quine[1:3, ], type = "response")),
               tolerance = 0.1, ignore_attr = TRUE)
  expect_error(bdl(Days ~ Sex, MASS::quine, family = MASS::negative.binomial(2)), "learns theta")
  expect_error(bdl(Days - 1 ~ Sex, MASS::quine, family = "negative_binomial"), "counts")
})

test_that("Gamma fits are those of glm", {
  data <- copies(warpbreaks, 40)
  reference <- glm(breaks ~ wool + tension, Gamma("log"), data)
  fit <- flat(breaks ~ wool + tension, data, family = Gamma("log"))
  expect_near(fit, coef(reference), sqrt(diag(vcov(reference))))
  level <- predict(fit, warpbreaks[1, ], interval = "prediction", level = 0.8)
  shape <- summary(fit)$shape
  expect_equal(unname(level[1, 2:3]), qgamma(c(0.1, 0.9), shape, shape / level[1, 1]), tolerance = 0.01)
  expect_error(bdl(breaks ~ wool, warpbreaks, family = Gamma()), "not supported")
  expect_error(bdl(I(breaks - 100) ~ wool, warpbreaks, family = "gamma"), "above 0")
})

test_that("ordinal fits are those of polr", {
  skip_if_not_installed("MASS")
  data <- MASS::housing[rep(seq_len(72), MASS::housing$Freq), ]
  reference <- MASS::polr(Sat ~ Infl + Type + Cont, data, Hess = TRUE)
  fit <- flat(Sat ~ Infl + Type + Cont, data, family = "ordinal")
  expect_near(fit, coef(reference), sqrt(diag(vcov(reference))), 0.05)
  expect_equal(summary(fit)$zeta, reference$zeta, tolerance = 0.01)
  expect_equal(unname(predict(fit, data[1:20, ], type = "prob")), unname(predict(reference, data[1:20, ], type = "p")), tolerance = 0.01)
  class <- predict(fit, data[1:20, ], type = "class")
  expect_s3_class(class, "ordered")
  expect_equal(levels(class), levels(data$Sat))
  expect_false(anyNA(class >= "Medium"))
  expect_equal(sort(unique(as.vector(predict(fit, data[1, ], type = "draws")))), c("High", "Low", "Medium"))
  expect_output(print(summary(fit)), "Cut points")
})

test_that("standard errors of ordinal fits are those of polr, which estimates the cut points too", {
  skip_if_not_installed("MASS")
  expect_errors <- function(formula, data, at_most) {
    reference <- MASS::polr(formula, data, Hess = TRUE)
    fit <- flat(formula, data, family = "ordinal")
    slopes <- names(coef(reference))
    expect_lt(max(abs(sqrt(diag(vcov(fit)))[slopes] / sqrt(diag(vcov(reference)))[slopes] - 1)), at_most)
    expect_lt(max(abs(vcov(fit)[slopes, slopes] - vcov(reference)[slopes, slopes])), at_most * max(diag(vcov(reference))))
  }
  housing <- MASS::housing[rep(seq_len(72), MASS::housing$Freq), ]
  expect_errors(Sat ~ Infl + Type + Cont, copies(housing, 10), 1e-3)
  cars <- transform(mtcars, level = cut(mpg, c(0, 17, 21, 50), c("low", "mid", "high"), ordered_result = TRUE))
  expect_errors(level ~ wt, copies(cars, 100), 0.02)
  expect_errors(level ~ wt + qsec, copies(cars, 200), 0.02)
})

test_that("levels that no row has change nothing", {
  data <- transform(mtcars, level = cut(mpg, c(0, 17, 21, 50), c("low", "mid", "high"), ordered_result = TRUE))
  more <- transform(data, level = factor(level, c("none", "low", "some", "mid", "high"), ordered = TRUE))
  fit <- flat(level ~ wt, data, family = "ordinal")
  wide <- flat(level ~ wt, more, family = "ordinal")
  expect_equal(coef(wide)[["wt"]], coef(fit)[["wt"]], tolerance = 1e-3)
  expect_equal(vcov(wide)["wt", "wt"], vcov(fit)["wt", "wt"], tolerance = 1e-3)
})

test_that("networks learn every family, and files keep them", {
  set.seed(3)
  x <- runif(150, -2, 2)
  data <- data.frame(x, counts = rnbinom(150, size = 3, mu = exp(1 + sin(2 * x))), times = rgamma(150, 5, 5 / exp(3 + sin(2 * x))),
                     label = rbinom(150, 1, pnorm(2 * sin(2 * x))),
                     level = cut(3 * sin(2 * x) + rlogis(150), c(-Inf, -1, 1, Inf), c("low", "mid", "high"), ordered_result = TRUE))
  constant <- c(counts = sd(data$counts), times = sd(data$times))
  for (case in list(c("counts", "negative_binomial"), c("times", "gamma"), c("label", "probit"), c("label", "cloglog"), c("level", "ordinal"))) {
    fit <- bdl(reformulate("x", case[1]), data, family = case[2], hidden = 10, seed = 1, verbose = FALSE)
    file <- tempfile()
    saveRDS(fit, file)
    again <- readRDS(file)
    expect_equal(predict(again, data), predict(fit, data))
    expect_true(all(is.finite(predict(fit, data))))
    if (case[1] %in% names(constant)) {
      expect_lt(sqrt(mean((predict(fit) - data[[case[1]]])^2)), constant[[case[1]]])
    } else {
      expect_gt(mean(as.character(predict(fit, type = "class")) == as.character(data[[case[1]]])),
                max(prop.table(table(data[[case[1]]]))))
    }
    expect_true(is.finite(logLik(fit)))
  }
})
