test_that("printing and summaries say what was fitted", {
  d <- line_data()
  fit <- quick(y ~ a, d, hidden = c(4, 3), activation = "tanh")
  expect_output(print(fit), "network with 4, 3 hidden units \\(tanh\\), heteroscedastic likelihood")
  expect_output(print(summary(fit)), "effective parameters")
  linear <- bdl_glm(y ~ a + g, d, verbose = FALSE)
  expect_output(print(summary(linear)), "Std. Dev.")
  table <- summary(linear, level = 0.9)$coefficients
  expect_identical(dimnames(table), list(c("(Intercept)", "a", "gv", "gw"), c("Estimate", "Std. Dev.", "5 %", "95 %", "P(> 0)")))
  degrees <- bdl:::coefficient_degrees(linear)
  expect_true(all(degrees > nrow(d) - 5 & degrees < nrow(d)))
  expect_equal(table[, "P(> 0)"], pt(coef(linear) / sqrt(diag(vcov(linear))), degrees))
  expect_output(print(summary(linear)), "P(> 0)", fixed = TRUE)
})

test_that("a linear model's call is that of bdl_glm()", {
  fit <- bdl_glm(dist ~ speed, cars, seed = 1)
  expect_identical(fit$call, quote(bdl_glm(formula = dist ~ speed, data = cars, seed = 1)))
  for (shown in list(fit, summary(fit))) {
    expect_output(print(shown), "bdl_glm(formula = dist ~ speed, data = cars, seed = 1)", fixed = TRUE)
  }
  expect_identical(coef(update(fit, seed = 2)), coef(fit))
  expect_identical(formula(update(fit, log(.) ~ .)), log(dist) ~ speed)
  matrices <- bdl_glm(cbind(speed = cars$speed), cars$dist, seed = 1)
  expect_identical(matrices$call[[1]], quote(bdl_glm))
  expect_equal(coef(update(matrices)), coef(fit))
})

test_that("linear models have the coefficients of lm() and glm() in the data's units", {
  d <- line_data(300)
  d$b <- 100 + 30 * d$b
  fit <- bdl_glm(y ~ a + b + g, d, seed = 1, verbose = FALSE)
  reference <- lm(y ~ a + b + g, d)
  expect_identical(fit$settings[c("method", "rank")], list(method = "exact-full", rank = "full"))
  expect_equal(coef(fit), coef(reference), tolerance = 0.05)
  expect_equal(sqrt(diag(vcov(fit))), sqrt(diag(vcov(reference))), tolerance = 0.1)
  expect_equal(confint(fit), confint(reference), tolerance = 0.05, ignore_attr = TRUE)
  design <- model.matrix(reference)
  expect_equal(unname(predict(fit, d, method = "plug_in")), unname(drop(design %*% coef(fit))))
  variance <- rowSums((design %*% as.matrix(vcov(fit))) * design)
  expect_equal(unname(predict(fit, d, method = "linearized", se.fit = TRUE)$se.fit^2), unname(variance))
  counts <- bdl_glm(count ~ a, d, family = poisson, verbose = FALSE, seed = 1)
  expect_equal(coef(counts), coef(glm(count ~ a, poisson, d)), tolerance = 0.1)
})

test_that("without an intercept nothing is shifted", {
  d <- line_data(200)
  fit <- bdl_glm(y ~ a + b - 1, d, verbose = FALSE)
  expect_identical(names(coef(fit)), c("a", "b"))
  expect_equal(unname(predict(fit, data.frame(a = 0, b = 0))), 0)
  expect_equal(coef(fit), coef(lm(y ~ a + b - 1, d)), tolerance = 0.1)
})

test_that("several outputs name their coefficients", {
  d <- line_data()
  fit <- quick(g ~ a, d, hidden = integer(0))
  expect_identical(fit$settings$method, "exact-full")
  expect_identical(names(coef(fit))[1:4], c("u:(Intercept)", "u:a", "v:(Intercept)", "v:a"))
  expect_identical(dim(vcov(fit)), c(6L, 6L))
})

test_that("blocks of the covariance are those of the dense matrix", {
  d <- line_data()
  for (fit in list(quick(y ~ a + b, d, hidden = 4), bdl_glm(y ~ a + b, d, verbose = FALSE))) {
    v <- vcov(fit)
    dense <- as.matrix(v)
    expect_true(isSymmetric(dense, tol = 1e-10))
    expect_identical(dimnames(dense)[[1]], names(coef(fit)))
    expect_equal(diag(v), diag(dense))
    expect_equal(v[2:3, c(1, 3)], dense[2:3, c(1, 3)])
    expect_equal(v[-1, names(coef(fit))[2]], dense[-1, 2])
    expect_equal(v[1, ], dense[1, ])
    expect_equal(v[2, 3, drop = FALSE], dense[2, 3, drop = FALSE])
    expect_equal(v[cbind(c(1, 2), c(3, 1))], dense[cbind(c(1, 2), c(3, 1))])
    expect_identical(dim(v), dim(dense))
    expect_equal(length(v), length(dense))
    if (length(fit$settings$hidden)) expect_output(print(v), "Covariance of")
  }
  expect_lt(as.numeric(object.size(vcov(quick(y ~ a, d, hidden = 200)))), 1e6)
})

test_that("the log likelihood has effective degrees of freedom", {
  d <- line_data(300)
  fit <- bdl_glm(y ~ a + b + g, d, verbose = FALSE)
  value <- logLik(fit)
  expect_s3_class(value, "logLik")
  expect_equal(as.numeric(value), as.numeric(logLik(lm(y ~ a + b + g, d))), tolerance = 0.01)
  expect_true(attr(value, "df") > 4.5 && attr(value, "df") < 6)
  expect_identical(attr(value, "nobs"), 300L)
  expect_equal(AIC(fit), -2 * as.numeric(value) + 2 * attr(value, "df"))
  few <- line_data(25)
  network <- logLik(quick(y ~ a, few, hidden = 20))
  expect_lt(attr(network, "effective"), 26)  # of 62 parameters, beside a noise variance
  expect_true(is.na(attr(network, "df")))
})

test_that("residuals, fitted values and simulations belong together", {
  d <- line_data()
  fit <- quick(y ~ a + b, d, hidden = 5)
  expect_equal(fitted(fit) + residuals(fit), setNames(d$y, rownames(d)))
  expect_equal(sd(residuals(fit, "pearson")), 1, tolerance = 0.5)
  simulated <- simulate(fit, 3, seed = 1)
  expect_identical(simulate(fit, 3, seed = 1), simulated)
  expect_identical(dim(simulated), c(60L, 3L))
  expect_identical(names(simulated), c("sim_1", "sim_2", "sim_3"))
  set.seed(8)
  first <- simulate(fit)
  set.seed(8)
  expect_identical(simulate(fit), first)
  expect_s3_class(simulate(quick(g ~ a, d, hidden = 3))$sim_1, "factor")
})

test_that("update() fits again", {
  d <- line_data()
  fit <- quick(y ~ a + b, d, hidden = 3, seed = 2)
  expect_identical(coef(hushed(update(fit))), coef(fit))
  smaller <- hushed(update(fit, . ~ a, hidden = 2))
  expect_identical(formula(smaller), y ~ a, ignore_attr = TRUE)
  expect_identical(smaller$settings$hidden, 2)
  expect_identical(update(bdl_glm(y ~ a, d, verbose = FALSE), . ~ b)$settings$rank, "full")
})

test_that("a saved fit predicts the same in another session", {
  d <- line_data()
  fit <- quick(y ~ a + b, d, hidden = 3)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  loaded <- readRDS(file)
  expect_false(bdl_is_open(loaded$handles$model))
  expect_identical(predict(loaded, d), predict(fit, d))
  expect_identical(coef(loaded), coef(fit))
  expect_output(print(summary(loaded)), "ELBO")
})

test_that("handles of a fit can be trained on, and the fit stays", {
  d <- line_data()
  fit <- quick(y ~ a, d, hidden = 3)
  before <- coef(fit)
  handles <- bdl_handles(fit)
  expect_identical(mean(handles$posterior), unname(before))
  bdl_fit(handles$optimizer, d$a, d$y, 3)
  expect_false(identical(mean(handles$posterior), unname(before)))
  expect_identical(coef(fit), before)
})

test_that("pictures are drawn", {
  d <- line_data()
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(quick(y ~ a, d, hidden = 3), c("training", "calibration", "bands", "marginals")))
  expect_silent(plot(quick(class ~ a, d, hidden = 3)))
  expect_silent(plot(quick(g ~ a, d, hidden = 3)))
  expect_silent(plot(quick(cbind(y, a) ~ b, d, hidden = 3)))
})

test_that("fits that are too short say so", {
  d <- line_data()
  expect_warning(bdl(y ~ a + b, d, hidden = 4, epochs = 1, verbose = FALSE), "epochs|steps", class = "bdl_warning")
  expect_silent(bdl(y ~ a + b, d, hidden = 4, verbose = FALSE, seed = 1))
  expect_silent(bdl_glm(y ~ a + b, d, verbose = FALSE))
})

test_that("a point has no covariance, and a warning says so", {
  d <- line_data()
  for (method in c("map", "sgd")) {
    fit <- hushed(bdl_glm(y ~ a, d, method = method, epochs = 5, verbose = FALSE))
    for (ask in list(vcov, confint, function(fit) diag(vcov(fit)))) {
      expect_warning(values <- ask(fit), "NaN.*finds a point.*laplace", class = "bdl_warning")
      expect_true(all(is.nan(values)))
    }
    expect_silent(summary(fit))
    expect_true(all(is.nan(summary(fit)$coefficients[, -1])))
    expect_output(print(summary(fit)), "finds a point")
  }
  network <- quick(y ~ a, d, hidden = 3, method = "map")
  covariance <- suppressWarnings(vcov(network))
  expect_true(all(is.nan(diag(covariance))) && all(is.nan(as.matrix(covariance))) && is.nan(covariance[1, 2]))
  expect_output(print(covariance), "NaN")
  file <- tempfile(fileext = ".rds")
  saveRDS(network, file)
  expect_warning(vcov(readRDS(file)), "finds a point")
  expect_warning(parts <- predict(network, d[1:3, ], se.fit = TRUE), "NaN.*finds a point", class = "bdl_warning")
  expect_true(all(is.nan(parts$se.fit)) && all(is.finite(parts$fit)) && all(parts$noise > 0))
  expect_true(all(is.finite(residuals(network, "pearson"))) && is.finite(logLik(network)))
  expect_true(all(is.finite(predict(network, d[1:3, ], interval = "prediction"))))
  members <- quick(y ~ a, d, hidden = 3, method = "map", members = 2)
  expect_true(all(predict(members, d[1:3, ], se.fit = TRUE)$se.fit > 0))  # of their means
  pdf(NULL)
  on.exit(dev.off())
  expect_error(plot(network, "marginals"), "no marginals.*finds a point", class = "bdl_error")
  for (fit in list(quick(y ~ a, d, hidden = integer(0), method = "laplace"), quick(y ~ a, d, hidden = 3, method = "swag"),
                   quick(y ~ a, d, hidden = integer(0), method = "map", control = list(laplace = 1)))) {
    expect_silent(covariance <- diag(vcov(fit)))
    expect_true(all(covariance > 0))
  }
})

test_that("every family, method and number of outputs can be shown and asked", {
  d <- line_data()
  formulas <- list(gaussian = y ~ a, bernoulli = class ~ a, categorical = g ~ a, poisson = count ~ a, gaussian = cbind(y, b) ~ a,
                   bernoulli = cbind(y > 3, b > 0) ~ a, poisson = cbind(count, 2 * count) ~ a)
  fits <- 0
  for (i in seq_along(formulas)) for (method in bdl_methods()) {
    fit <- tryCatch(
      suppressWarnings(bdl_glm(formulas[[i]], d, family = names(formulas)[i], method = method, epochs = 1, verbose = FALSE, seed = 1)),
      bdl_error_unsupported = function(e) NULL, bdl_error_diverged = function(e) NULL
    )
    if (is.null(fit)) next
    fits <- fits + 1
    expect_output(print(fit), method)
    expect_output(suppressWarnings(print(summary(fit))), "Std. Dev.")
    expect_identical(rownames(suppressWarnings(vcov(fit))), names(coef(fit)))
    expect_identical(rownames(suppressWarnings(confint(fit))), names(coef(fit)))
    expect_identical(anyDuplicated(names(coef(fit))), 0L)
  }
  expect_gt(fits, 200)
})

test_that("a fit is no matrix", {
  expect_error(as.matrix(bdl_glm(dist ~ speed, cars, verbose = FALSE)), "coef", class = "bdl_error")
})

test_that("the first fit by a baseline says what it is for", {
  d <- line_data()
  said <- function(...) {
    heard <- character()
    withCallingHandlers(bdl(y ~ a, d, hidden = 3, epochs = 1, verbose = FALSE, ...), bdl_warning = function(w) {
      heard <<- c(heard, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    heard[grepl("is a baseline for", heard)]
  }
  rm(list = intersect("bbb", ls(bdl:::cautioned)), envir = bdl:::cautioned)
  message <- said(method = "bbb")
  expect_identical(message, bdl_method_standing("bbb")$caution)
  expect_match(message, "^bbb is a baseline for comparisons \\(Blundell et al. 2015\\): untuned, it had 95 % intervals that .*Method laplace and the default passed the test.$")
  expect_length(said(method = "bbb"), 0)
  expect_length(said(), 0)
  expect_identical(bdl_method_standing("laplace")$caution, "")
})
