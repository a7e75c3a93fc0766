saved <- function(fit) {
  path <- tempfile(fileext = ".safetensors")
  bdl_save(path, fit)
  bdl_names(bdl_load(path)$model)
}

test_that("names and classes of fits are saved with the model", {
  d <- data.frame(length = sin(1:60), width = cos(3 * (1:60)))
  d$size <- factor(ifelse(d$length > 0, "large", "small"), c("small", "large"))
  d$above <- d$length > 0
  expect_equal(saved(bdl_glm(size ~ length + width, d, seed = 1)),
               list(inputs = c("length", "width"), targets = NULL, classes = c("small", "large")))
  expect_identical(saved(bdl_glm(above ~ length, d, seed = 1))$classes, c(FALSE, TRUE))
  three <- factor(rep(c("a", "b", "c"), 20))
  expect_identical(saved(suppressWarnings(bdl_glm(as.matrix(d[1:2]), three, seed = 1, epochs = 2)))$classes, c("a", "b", "c"))
  two <- suppressWarnings(bdl_glm(cbind(height = length, depth = width) ~ width, d, seed = 1, epochs = 2))
  expect_identical(saved(two)$targets, c("height", "depth"))
})

test_that("a fit is saved as its optimizer, and with no others", {
  fit <- bdl_glm(y ~ x, data.frame(x = 1:9, y = sin(1:9)), seed = 1)
  path <- tempfile()
  expect_identical(bdl_save(path, fit), path)
  loaded <- bdl_load(path)
  expect_identical(bdl_optimizer_method(loaded$optimizer), "exact-full")
  expect_error(bdl_save(path, fit, loaded$posterior), "give no others", class = "bdl_error_invalid_argument")
  expect_error(bdl_save(path, fit, optimizer = loaded$optimizer), "give no others")
})

test_that("classes keep their type", {
  model <- bdl_model(c(2, 2), likelihood = "categorical")
  expect_identical(bdl_names(model), list(inputs = NULL, targets = NULL, classes = NULL))
  for (classes in list(c("a", "\u00e9\nb\\"), c(-3L, 7L), c(0.1, 1e300), c(TRUE, FALSE), factor(c("low", "high"), c("low", "high"), ordered = TRUE))) {
    expect_identical(bdl_names(bdl_set_names(model, classes = classes))$classes, classes)
  }
  expect_null(bdl_names(bdl_set_names(model, classes = NULL))$classes)
  expect_error(bdl_set_names(model, inputs = "a"), "inputs has 1 names, expected 2")
  expect_error(bdl_set_names(bdl_model(c(2, 1)), classes = c("a", "b")), "the model has no classes")
})

test_that("an exact fit that ends early says so", {
  set.seed(3)
  d <- data.frame(x = rnorm(50))
  d$y <- rpois(50, 1e7 * exp(d$x))
  expect_warning(bdl_glm(y ~ x, d, family = "poisson", seed = 1, epochs = 1), "fit with more epochs")
  expect_no_warning(fit <- bdl_glm(y ~ x, d, family = "poisson", seed = 1))
  expect_equal(unname(coef(fit)), unname(coef(glm(y ~ x, poisson, d))), tolerance = 1e-5)
})

test_that("noise is found where nearly all degrees of freedom are taken", {
  set.seed(2)
  x <- matrix(rnorm(20 * 18), 20)
  y <- x[, 1] * 3 + rnorm(20)
  expect_no_warning(fit <- bdl_glm(x, y, seed = 1))
  expect_equal(summary(fit)$noise, sigma(lm(y ~ x)), tolerance = 0.01)
})
