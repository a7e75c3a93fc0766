# Responses of every type: what is learned, what comes back, and what is refused by its name.

labelled_data <- function(n = 60) {
  set.seed(1)
  d <- data.frame(x = rnorm(n))
  d$y <- d$x + rnorm(n)
  d$logical <- d$x > 0
  d$integer <- ifelse(d$logical, 4L, 3L)
  d$fraction <- ifelse(d$logical, 1 / 3, 2 / 3)
  d$text <- ifelse(d$logical, "p", "q")
  d$factor <- factor(d$text, levels = c("o", "q", "p", "r"))
  d$ordered <- cut(d$x, c(-Inf, -0.5, 0.5, Inf), labels = c("lo", "mid", "hi"), ordered_result = TRUE)
  d
}

test_that("class predictions have the response's class and levels", {
  d <- labelled_data()
  for (name in c("logical", "integer", "fraction", "text", "factor", "ordered")) {
    given <- d[[name]]
    fit <- hushed(bdl_glm(reformulate("x", name), d, family = "categorical", epochs = 60, verbose = FALSE, seed = 1))
    classes <- predict(fit, type = "class")
    expect_identical(class(classes), class(given))
    expect_identical(levels(classes), levels(given))
    expect_true(all(classes %in% unique(given)))
    expect_gt(mean(classes == given), 0.6)
    simulated <- simulate(fit, 2)$sim_2
    expect_identical(class(simulated), class(given))
    expect_identical(levels(simulated), levels(given))
    expect_true(all(simulated %in% unique(given)))
    expect_true(all(predict(fit, type = "draws", samples = 3) %in% unique(given)))
    expect_identical(ncol(predict(fit, type = "prob")), length(unique(given)))  # levels that do not occur are no classes
  }
  expect_true(all(predict(fit, type = "class") >= "lo"))
  for (name in c("logical", "text", "factor")) {
    fit <- bdl_glm(reformulate("x", name), d, verbose = FALSE, seed = 1)
    expect_identical(fit$family, "bernoulli")
    expect_identical(class(predict(fit, type = "class")), class(d[[name]]))
    expect_gt(mean(predict(fit, type = "class") == d[[name]]), 0.9)
  }
  expect_type(predict(bdl_glm(as.integer(logical) ~ x, d, family = binomial, verbose = FALSE), type = "class"), "integer")
  expect_type(predict(bdl_glm(logical + 0 ~ x, d, family = binomial, verbose = FALSE), type = "class"), "double")
  missing <- predict(quick(ordered ~ x, d, hidden = 2), data.frame(x = c(NA, 1)), type = "class")
  expect_true(is.ordered(missing) && is.na(missing[1]))
})

test_that("numbers that differ beyond their text are different classes", {
  d <- labelled_data()
  d$near <- 1 / 3 + d$logical * .Machine$double.eps
  fit <- hushed(bdl_glm(near ~ x, d, family = "categorical", epochs = 60, verbose = FALSE, seed = 1))
  expect_identical(sort(unique(predict(fit, type = "class"))), sort(unique(d$near)))
  expect_identical(anyDuplicated(colnames(predict(fit, type = "prob"))), 0L)
})

test_that("fits of version 0.2, which have no values, give back classes", {
  d <- labelled_data()
  for (name in c("logical", "integer", "factor")) {
    fit <- quick(reformulate("x", name), d, family = "categorical", hidden = 2)
    old <- fit
    old$response$values <- NULL
    expect_identical(as.character(predict(old, d, type = "class")), as.character(predict(fit, d, type = "class")))
  }
})

test_that("what is not supported is refused by its name, with what to do", {
  d <- labelled_data()
  d$time <- structure(cbind(time = abs(d$x), status = 1), class = "Surv", type = "right")
  d$counts <- rpois(60, 3)
  refused <- function(fit, message) expect_error(fit, message, class = "bdl_error")
  refused(bdl_glm(time ~ y, d), "class \"Surv\".*survival")
  refused(bdl(as.matrix(d["x"]), d$time), "class \"Surv\"")
  refused(bdl_glm(as.Date(counts, origin = "2020-01-01") ~ x, d), "class \"Date\".*as.numeric")
  for (family in list(binomial, "binomial", binomial())) {
    refused(bdl_glm(cbind(counts, 2 - counts) ~ x, d, family = family), "successes and failures are 0 or more")
    expect_length(coef(bdl_glm(cbind(logical + 0, 1 - logical) ~ x, d, family = family, verbose = FALSE)), 2)
  }
  two <- hushed(bdl_glm(cbind(logical + 0, 1 - logical) ~ x, d, family = "bernoulli", epochs = 5, verbose = FALSE))
  expect_length(coef(two), 4)
  refused(bdl_glm(counts ~ x, d, family = binomial), "response is .* in row .*0 and 1, a row for each trial")
  refused(bdl_glm(y ~ x, d, family = poisson), "counts 0, 1, 2")
  refused(bdl_glm(y ~ x + (1 | text), d), "\\(1 \\| text\\).*mixed models.*text can be a predictor")
  refused(bdl_glm(y ~ x + (x || text), d), "mixed models")
  refused(bdl_glm(y ~ x | text, d), "mixed models")
  expect_length(coef(bdl_glm(y ~ x + I(logical | text == "q"), d, verbose = FALSE)), 3)
  refused(bdl_glm(y ~ x, d[0, ]), "there are no rows")
  refused(bdl_glm(y ~ x, transform(d, y = NA_real_)), "all 60 have some")
  refused(bdl_glm(as.matrix(d["x"])[0, , drop = FALSE], numeric(0)), "there are no rows")
  refused(bdl_glm(y ~ 0, d), "neither predictors nor an intercept")
  refused(bdl_glm(text ~ x, d, family = gaussian), "text cannot be the response of family gaussian")
  refused(bdl(as.matrix(d["x"]), d[c("text", "factor")], family = "categorical"), "one column")
})

test_that("numbers are no classes, and a class for nearly every row is worth a warning", {
  d <- labelled_data()
  expect_error(bdl_glm(as.character(y) ~ x, d), "60 different values in 60 rows.*as.numeric", class = "bdl_error")
  expect_error(bdl_glm(factor(y) ~ x, d), "as.numeric\\(as.character\\(\\)\\)", class = "bdl_error")
  expect_error(bdl_glm(y ~ x, d, family = "categorical"), "use family = .gaussian", class = "bdl_error")
  e <- tryCatch(bdl_glm(as.character(y) ~ x, d), error = identity)
  expect_identical(conditionCall(e)[[1]], quote(bdl.formula))
  expect_warning(hushed_but(bdl(paste0("a", y) ~ x, d, hidden = 2, epochs = 1, verbose = FALSE), "class for nearly every row"),
                 "60 different values", class = "bdl_warning")
  expect_identical(quick(as.character(round(x)) ~ y, d, hidden = 2)$family, "categorical")
})

test_that("rows that na.exclude keeps are in all that is asked of the fit", {
  d <- labelled_data()
  d$x[c(2, 7)] <- NA
  fit <- bdl_glm(y ~ x, d, na.action = na.exclude, verbose = FALSE)
  simulated <- simulate(fit, 2)
  expect_identical(which(is.na(simulated$sim_1)), c(2L, 7L))
  expect_identical(nrow(simulate(bdl_glm(factor ~ x, d, na.action = na.exclude, verbose = FALSE))), 60L)
  several <- hushed(bdl_glm(cbind(y, integer) ~ x, d, na.action = na.exclude, epochs = 5, verbose = FALSE))
  for (asked in list(predict(several, type = "interval"), simulate(several, 2))) {
    expect_identical(unname(which(is.na(asked[, 1, 1]))), c(2L, 7L))
    expect_identical(rownames(asked), rownames(d))
  }
})
