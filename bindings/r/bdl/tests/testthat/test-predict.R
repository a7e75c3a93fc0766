test_that("types of prediction agree with each other", {
  d <- line_data()
  fit <- quick(y ~ a + b, d, hidden = 5)
  response <- predict(fit, d)
  parts <- predict(fit, d, se.fit = TRUE)
  expect_identical(parts$fit, response)
  expect_true(all(parts$se.fit > 0 & parts$noise > 0))
  band <- predict(fit, d, type = "interval", level = 0.8)
  expect_identical(predict(fit, d, interval = "prediction", level = 0.8), band)
  quantile <- predict(fit, d, type = "quantile", probs = c(0.1, 0.5, 0.9))
  expect_identical(colnames(quantile), c("10%", "50%", "90%"))
  expect_equal(unname(band[, c("lwr", "upr")]), unname(quantile[, c(1, 3)]))
  expect_true(all(quantile[, 1] < response & response < quantile[, 3]))
  draws <- predict(fit, d, type = "draws", samples = 2000)
  expect_equal(rowMeans(draws), response, tolerance = 0.05)
  expect_equal(apply(draws, 1, sd), sqrt(parts$se.fit^2 + parts$noise^2), tolerance = 0.1)
  expect_identical(predict(fit, d, method = "plug_in", se.fit = TRUE)$se.fit, 0 * response)
})

test_that("classes come back as they were given", {
  d <- line_data()
  fit <- quick(class ~ a, d, hidden = 3)
  p <- predict(fit, d, type = "prob")
  expect_identical(colnames(p), c("no", "yes"))
  expect_equal(unname(rowSums(p)), rep(1, 60))
  expect_equal(p[, "yes"], predict(fit, d))
  expect_identical(levels(predict(fit, d, type = "class")), c("no", "yes"))
  expect_gt(mean(predict(fit, d, type = "class") == d$class), 0.6)
  expect_setequal(predict(fit, d, type = "draws"), c("no", "yes"))
  several <- quick(g ~ y, d, hidden = 3)
  expect_identical(dimnames(predict(several, d))[[2]], c("u", "v", "w"))
  expect_identical(levels(predict(several, d, type = "class")), c("u", "v", "w"))
  expect_identical(dim(residuals(several)), c(60L, 3L))
  expect_type(predict(quick(I(a > 0) ~ b, d, hidden = 3), d, type = "class"), "logical")
  expect_true(all(predict(quick(as.numeric(a > 0) ~ b, d, family = "binomial", hidden = 3), d, type = "class") %in% 0:1))
  numbers <- quick(I(3 * count) ~ a, d, family = "categorical", hidden = 3)
  expect_true(all(predict(numbers, d, type = "class") %in% (3 * d$count)))
})

test_that("counts have whole quantiles and positive means", {
  d <- line_data()
  fit <- quick(count ~ a, d, family = "poisson", hidden = 3)
  expect_true(all(predict(fit, d) > 0))
  q <- predict(fit, d, type = "quantile")
  expect_identical(q, round(q))
})

test_that("set.seed() governs, and a seed that is given is used", {
  d <- line_data()
  set.seed(5)
  first <- quick(y ~ a, d, hidden = 3)
  set.seed(5)
  second <- quick(y ~ a, d, hidden = 3)
  third <- quick(y ~ a, d, hidden = 3)
  expect_identical(predict(first, d), predict(second, d))
  expect_identical(coef(first), coef(second))
  expect_false(identical(coef(first), coef(third)))
  expect_identical(predict(first, d), predict(first, d))
  given <- quick(y ~ a, d, hidden = 3, seed = 9)
  again <- quick(y ~ a, d, hidden = 3, seed = 9)
  expect_identical(predict(given, d), predict(again, d))
  expect_identical(given$prediction_seed, 1)
  expect_identical(bdl_options(bdl_handles(given)$optimizer)$seed, 9)
  state <- .Random.seed
  quick(y ~ a, d, hidden = 3, seed = 9)
  expect_identical(.Random.seed, state)
})

test_that("the yacht quickstart has the numbers of the C program", {
  rows <- c(121, 115, 286, 216, 264, 209, 1, 22, 7, 141, 86, 241, 215, 68, 50, 156, 252, 254, 276, 178, 281, 237, 71,
            129, 144, 133, 203, 255, 72, 235, 37) + 1
  fit <- bdl(resistance ~ ., yacht[-rows, ], seed = 1, verbose = FALSE)
  y <- yacht$resistance[rows]
  expect_equal(sqrt(mean((predict(fit, yacht[rows, ]) - y)^2)), 0.421, tolerance = 0.01)
  h <- bdl_handles(fit)
  density <- bdl_predict_log_density(h$model, h$posterior, as.matrix(yacht[rows, 1:6]), y, BDL_LINEARIZED, 500, 1,
                                     c(31, 1))
  expect_equal(mean(density), -0.286, tolerance = 0.01)
  covered <- vapply(c(0.5, 0.9, 0.95), function(level) {
    band <- predict(fit, yacht[rows, ], type = "interval", level = level)
    sum(band[, "lwr"] <= y & y <= band[, "upr"])
  }, 0L)
  expect_identical(covered, c(19L, 31L, 31L))
  expect_identical(nrow(fit$history), 100L)
  expect_identical(bdl_options(h$optimizer)$threads, 0)
})

test_that("columns of matrices go by their names", {
  set.seed(1)
  x <- matrix(rnorm(60), 30, dimnames = list(NULL, c("a", "b")))
  fit <- bdl(x, 2 * x[, "a"] - x[, "b"] + rnorm(30) / 10, hidden = integer(0))
  expected <- predict(fit, x)
  expect_identical(predict(fit, x[, c("b", "a")]), expected)
  expect_identical(unname(predict(fit, data.frame(other = 0, b = x[, "b"], a = x[, "a"]))), unname(expected))
  expect_error(predict(fit, x[, "a", drop = FALSE]), "no column b", class = "bdl_error")
})

test_that("covariances of linear models are matrices", {
  fit <- bdl_glm(mpg ~ wt + hp, mtcars)
  v <- vcov(fit)
  expect_true(is.numeric(v))
  expect_equal(sqrt(diag(v %*% solve(v))), rep(1, 3), ignore_attr = TRUE)
  expect_equal(v, vcov(lm(mpg ~ wt + hp, mtcars)), tolerance = 0.1)
  expect_error(bdl_glm(mpg ~ wt, mtcars, hidden = 5), "hidden")
})

test_that("predictions suit the method, and methods bring their posterior", {
  d <- line_data()
  ways <- c(map = "plug_in", laplace = "linearized", vogn = "linearized", "slang-ggn" = "linearized")
  for (method in names(ways)) {
    fit <- quick(y ~ a + b, d, hidden = 4, method = method)
    expect_identical(predict(fit, d, se.fit = TRUE), predict(fit, d, se.fit = TRUE, method = ways[[method]]))
    expect_identical(dim(predict(fit, d, type = "draws", samples = 3)), c(nrow(d), 3L))
  }
  expect_identical(quick(y ~ a + b, d, hidden = 4, method = "vogn")$settings$rank, 0)
  expect_identical(quick(y ~ a + b, d, hidden = 4)$settings$method, "slang")
  expect_identical(quick(g ~ a + b, d, hidden = 4)$settings$method, "slang")
  expect_error(quick(y ~ a, d, hidden = 4, method = "slangs"), class = "bdl_error_invalid_argument")
  expect_identical(bdl_method_describe("lo-fi")$families, "low_rank")
})

test_that("Student-t noise is not drawn by outliers", {
  set.seed(5)
  x <- matrix(runif(200, -1, 1))
  y <- 2 * x[, 1] + 0.1 * rnorm(200)
  y[1:10] <- y[1:10] + 20
  fits <- lapply(c("student_t", "gaussian"), function(noise) bdl(x, y, noise = noise, hidden = 10, verbose = FALSE))
  errors <- sapply(fits, function(fit) sqrt(mean((predict(fit) - 2 * x[, 1])^2)))
  expect_lt(5 * errors[1], errors[2])
  degrees <- summary(fits[[1]])$degrees_of_freedom
  expect_true(degrees >= 1 && degrees < 3)
  expect_null(summary(fits[[2]])$degrees_of_freedom)
  expect_output(print(summary(fits[[1]])), "Degrees of freedom of the noise")
  expect_identical(dim(predict(fits[[1]], x, type = "draws", samples = 7)), c(200L, 7L))
  expect_error(bdl(x, y > 0, noise = "student_t", verbose = FALSE), "gaussian family")
})

test_that("a huge outlier makes the noise by default Student's t", {
  set.seed(3)
  x <- matrix(runif(200, -1, 1))
  line <- 2 * x[, 1]
  y <- line + 0.1 * rnorm(200)
  y[7] <- 1e4
  said <- character()
  fit <- withCallingHandlers(bdl(x, y, hidden = 10, members = 2, seed = 1, verbose = FALSE), warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_identical(grepl("^a target is [0-9.]+ robust standard deviations from the median, .* noise = \"heteroscedastic\"", said), TRUE)
  expect_identical(sapply(fit$members, function(member) member$settings$noise), c("student_t", "student_t"))
  expect_lt(sqrt(mean((predict(fit) - line)^2)), 0.2)
  interval <- predict(fit, x, type = "interval")
  expect_true(all(is.finite(unlist(interval))))
  expect_output(print(fit$members[[1]]), "student_t likelihood")
  again <- unserialize(serialize(fit, NULL))
  expect_identical(predict(again, x), predict(fit, x))
  expect_silent(named <- suppressWarnings(bdl(x, y, hidden = 4, epochs = 3, noise = "heteroscedastic", verbose = FALSE)))
  expect_identical(named$settings$noise, "heteroscedastic")
  from_data_set <- suppressWarnings(bdl(bdl_dataset(x, y), hidden = 4, epochs = 3, verbose = FALSE))
  expect_identical(from_data_set$settings$noise, "heteroscedastic")
})

test_that("the noise by default is what suits the fit", {
  set.seed(1)
  x <- matrix(rnorm(120), 60)
  y <- x[, 1] + 0.1 * rnorm(60)
  taken <- function(...) suppressWarnings(bdl(x, y, epochs = 3, seed = 1, verbose = FALSE, ...))$settings$noise
  expect_identical(taken(hidden = 4), "heteroscedastic")
  expect_identical(taken(hidden = 4, control = list(heteroscedastic_from = 0.9)), "heteroscedastic")
  expect_identical(taken(hidden = 4, method = "laplace"), "gaussian")
  expect_identical(taken(network = "dense 4; relu"), "heteroscedastic")
  gaussian <- list(list(hidden = integer(0)), list(hidden = 4, method = "lo-fi"), list(hidden = 4, rank = "dropout"),
                   list(hidden = 4, control = list(learn_noise = 0)), list(network = "input 2; dense 4; relu; dense 1"),
                   list(network = "dense 4; batchnorm; relu", method = "vogn"))
  for (settings in gaussian) expect_identical(do.call(taken, settings), "gaussian")
  expect_identical(suppressWarnings(bdl(x, y > 0, epochs = 1, verbose = FALSE))$settings$noise, "gaussian")
  for (noise in c("gaussian", "heteroscedastic")) {
    before <- suppressWarnings(bdl(x, y, hidden = 4, epochs = 3, noise = noise, verbose = FALSE))
    expect_identical(taken(hidden = 4, prior = before), noise)
    expect_identical(is.null(summary(before)$noise), noise == "heteroscedastic")
  }
  fit <- suppressWarnings(bdl(x, y, hidden = 4, epochs = 3, verbose = FALSE))
  expect_output(print(fit), "heteroscedastic likelihood")
  expect_identical(suppressWarnings(update(fit, epochs = 2))$settings$noise, "heteroscedastic")
})

test_that("heteroscedastic noise is that of the example", {
  set.seed(4)
  x <- matrix(runif(400, -1, 1))
  y <- 2 * x[, 1] + exp(x[, 1]) * rnorm(400)
  fit <- bdl(x, y, noise = "heteroscedastic", hidden = 10, epochs = 200, seed = 1, verbose = FALSE)
  ends <- matrix(c(-0.8, 0.8))
  parts <- predict(fit, ends, se.fit = TRUE)
  expect_gt(parts$noise[2], 2 * parts$noise[1])
  limits <- predict(fit, ends, type = "interval")
  expect_gt(limits[2, "upr"] - limits[2, "lwr"], 2 * (limits[1, "upr"] - limits[1, "lwr"]))
  expect_identical(dim(predict(fit, ends, type = "draws", samples = 7)), c(2L, 7L))
  expect_output(print(summary(fit)), "heteroscedastic likelihood")
  expect_lt(abs(mean(residuals(fit, "pearson")^2) - 1), 0.3)
  expect_error(bdl(x, y, noise = "loud", verbose = FALSE), "noise must be one of")
  expect_error(bdl(x, y, noise = "heteroscedastic", hidden = integer(0), verbose = FALSE), "needs hidden units")
  expect_error(bdl(x, y > 0, noise = "heteroscedastic", verbose = FALSE), "gaussian family")
})
