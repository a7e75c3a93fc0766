# As defaults.py, in R. Its seed is drawn from R's generator unless it is given: that is the one default of its own.
library(bdl)

i <- 1:30
x <- cbind((7 * i) %% 11 - 5, (3 * i) %% 7 - 3) / 4
y <- 2 * x[, 1] - x[, 2] + ((5 * i) %% 9 - 4) / 16
two <- ifelse(y > 0, "b", "a")
three <- ifelse(y > 1, "c", two)
count <- (3 * i) %% 5
both <- cbind(y, 10 * x[, 2] + y / 2)
at <- expand.grid(i = i, row = 0:5, column = 0:4, channel = 0:1)
pixels <- with(at, (17 * i + 29 * row + 43 * column + 101 * channel + i * row * column) %% 256)
pixels <- array(as.raw(pixels), c(30, 6, 5, 2))

images <- function(targets) {
  bdl(pixels, targets, network = "conv 3 3; relu; maxpool 2", seed = bdl_default("seed"), verbose = FALSE)
}
layers <- function(network, targets) {
  bdl(x, targets, network = network, method = "vogn", seed = bdl_default("seed"), verbose = FALSE)
}
network <- function(targets, ...) bdl(x, targets, seed = bdl_default("seed"), verbose = FALSE, ...)
linear <- function(family, targets, ...) network(targets, family = family, hidden = integer(0), ...)

cases <- alist(
  "regression" = network(y),
  "targets" = network(both),
  "two classes" = network(two),
  "three classes" = network(three),
  "gaussian" = network(y, noise = "gaussian"),
  "heteroscedastic" = network(y, noise = "heteroscedastic"),
  "student_t" = network(y, noise = "student_t"),
  "outlier" = network(c(1e5, y[-1])),
  "mc-dropout" = network(y, method = "mc-dropout"),
  "vogn" = network(y, method = "vogn"),
  "laplace" = network(three, method = "laplace"),
  "lo-fi" = network(y, method = "lo-fi"),
  "images" = images(three),
  "numbers of images" = images(y),
  "batch norm" = layers("dense 4; batchnorm; relu", y),
  "whole network" = layers("input 2; dense 4; relu; dense 1", y),
  "linear" = linear("gaussian", y),
  "linear targets" = linear("gaussian", both),
  "counts" = linear("poisson", count),
  "logistic" = linear("bernoulli", two),
  "softmax" = linear("categorical", three),
  "linear bbb" = linear("gaussian", y, method = "bbb"),
  "linear stream" = linear("gaussian", y, method = "cm-ekf"),
  "count stream" = linear("poisson", count, method = "lo-fi")
)

value_text <- function(value) if (is.character(value)) value else sprintf("%.15g", value)
likelihoods <- c("gaussian", "bernoulli", "categorical", "poisson", "heteroscedastic", "student_t")
families <- c("low_rank", "full", "full_moment", "diagonal_moment", "dropout", "layerwise_full", "low_rank_moment",
              "layerwise_low_rank_moment", "kronecker")

for (name in names(cases)) {
  fit <- suppressWarnings(eval(cases[[name]]))
  handles <- bdl_handles(fit)
  q <- handles$posterior
  family <- families[bdl_posterior_family(q)]
  cat("case", name, "\n")
  cat("likelihood", likelihoods[bdl_model_likelihood(handles$model) - BDL_GAUSSIAN + 1], "\n")
  cat("method", bdl_optimizer_method(handles$optimizer), "posterior", family, bdl_posterior_rank(q), "steps",
      bdl_optimizer_progress(handles$optimizer)$step, "\n")
  if (family == "dropout") cat("rates", sprintf("%.15g", unlist(bdl_posterior_dropout_rates(q))), "\n")
  options <- bdl_options(handles$optimizer)
  for (option in names(options)) cat(option, value_text(options[[option]]), "\n")
  type <- if (fit$family %in% c("bernoulli", "categorical")) "prob" else "response"
  some <- if (is.null(fit$settings$image)) x[1:3, ] else pixels[1:3, , , ]
  mean <- predict(fit, some, type = type)
  cat("predictions", sprintf("%.12g", as.vector(t(as.matrix(mean)))), "\n")
  if (family != "dropout") cat("novelty", sprintf("%.10g", c(bdl_novelty_limit(fit), predict(fit, some, type = "novelty"))), "\n")
}
