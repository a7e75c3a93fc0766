# Scores of classification and of out-of-distribution detection, against R's own arithmetic.

some_probabilities <- function(n, classes, seed) {
  set.seed(seed)
  p <- matrix(stats::rexp(n * classes), n)
  p / rowSums(p)
}

p <- some_probabilities(200, 4, 1)
others <- some_probabilities(70, 4, 2)^0.3
others <- others / rowSums(others)
y <- (max.col(p) - 1 + (seq_len(200) %% 3 == 0)) %% 4
confidence <- apply(p, 1, max)
right <- max.col(p) - 1 == y

area <- function(positive, negative) {
  mean(outer(positive, negative, ">") + 0.5 * outer(positive, negative, "=="))
}

test_that("the calibration curve sums up to the error", {
  curve <- bdl_calibration_curve(p, y, 20)
  bin <- ceiling(confidence * 20)
  expect_equal(curve$count, tabulate(bin, 20))
  used <- curve[curve$count > 0, ]
  expect_equal(used$accuracy, as.vector(tapply(right, bin, mean)))
  expect_equal(used$confidence, as.vector(tapply(confidence, bin, mean)))
  expect_true(all(is.nan(curve$accuracy[curve$count == 0])))
  expect_equal(bdl_metric_ece(p, y, 20), sum(used$count / 200 * abs(used$accuracy - used$confidence)))
  expect_equal(bdl_metric_nll(p, y), -mean(log(p[cbind(1:200, y + 1)])))
})

test_that("entropies and their histogram", {
  entropy <- -rowSums(p * log(p))
  expect_equal(bdl_entropy(p), entropy)
  h <- bdl_entropy_histogram(p, 10)
  expect_equal(h$count, tabulate(ceiling(entropy / log(4) * 10), 10))
  expect_equal(range(h$from, h$to), c(0, log(4)))
  expect_equal(bdl_entropy(c(0.5, 0)), c(log(2), 0))
})

test_that("ranks", {
  positive <- c(3, 1, 2)
  negative <- c(2, 0)
  expect_identical(bdl_metric_auroc(positive, negative), 0.75)
  expect_equal(bdl_metric_aupr(positive, negative), (1 + 2 / 3 + 3 / 4) / 3)
  expect_equal(bdl_metric_fpr(positive, negative, 0.95), list(fpr = 0.5, threshold = 1))
  expect_equal(bdl_metric_detection_error(positive, negative), 0.25)
  curve <- bdl_roc_curve(positive, negative)
  expect_equal(curve, data.frame(fpr = c(0, 0, 0.5, 0.5, 1), tpr = c(0, 1, 2, 3, 3) / 3, threshold = c(Inf, 3, 2, 1, 0)))
})

test_that("certainty tells right from wrong and inside from outside", {
  expect_equal(bdl_auroc_correct(p, y), area(confidence[right], confidence[!right]))
  entropy <- bdl_entropy(p)
  expect_equal(bdl_auroc_correct(p, y, "entropy"), area(-entropy[right], -entropy[!right]))
  report <- bdl_ood(p, others)
  expect_named(report, c("auroc", "aupr", "aupr_out", "fpr95", "threshold", "detection_error", "entropy_inside",
                         "entropy_outside"))
  expect_equal(report$auroc, area(confidence, apply(others, 1, max)))
  expect_equal(report$entropy_outside, mean(bdl_entropy(others)))
  expect_equal(report[c("fpr95", "threshold")], bdl_metric_fpr(confidence, apply(others, 1, max), 0.95), ignore_attr = TRUE)
  expect_equal(bdl_ood(p, others, "entropy")$auroc, area(-entropy, -bdl_entropy(others)))
})

test_that("temperatures", {
  temperature <- bdl_temperature_fit(log(p), y)
  loss <- function(t) bdl_metric_nll(exp(bdl_temper(log(p), t)), y)
  expect_equal(temperature, stats::optimize(loss, c(0.01, 10), tol = 1e-8)$minimum, tolerance = 1e-5)
  scaled <- log(p) / 3
  expect_equal(bdl_temper(log(p), 3), scaled - log(rowSums(exp(scaled))))
  expect_equal(bdl_temperature_fit(matrix(c(0, log(4)), 3, 2, byrow = TRUE), c(1, 1, 0)), 2)
})

test_that("pictures return their data", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_equal(bdl_plot_reliability(p, y), bdl_calibration_curve(p, y, 10))
  expect_equal(bdl_plot_roc(c(3, 1, 2), c(2, 0)), bdl_roc_curve(c(3, 1, 2), c(2, 0)))
  expect_equal(bdl_plot_entropies(list(p = p, others = others))$others, bdl_entropy_histogram(others))
})

test_that("what they refuse", {
  expect_error(bdl_ood(p, others, "margin"), 'score must be one of "confidence", "entropy"', class = "bdl_error_invalid_argument")
  expect_error(bdl_ood(p, others[, 1:3] / rowSums(others[, 1:3])), "outside has 3 columns, expected 4", class = "bdl_error_shape")
  expect_error(bdl_auroc_correct(p, max.col(p) - 1), "all of the labels", class = "bdl_error_invalid_argument")
  expect_error(bdl_metric_auroc(c(1, NaN), 1), "positive is not finite", class = "bdl_error_not_finite")
  expect_error(bdl_calibration_curve(p, y, 0), class = "bdl_error")
  expect_error(bdl_temperature_fit(log(p), y + 1), class = "bdl_error_label")
  expect_error(bdl_temper(log(p), 0), "temperature is 0", class = "bdl_error_invalid_argument")
  expect_error(bdl_plot_entropies(p), "groups must be a list", class = "bdl_error_invalid_argument")
  expect_error(bdl_plot_entropies(list(p)), "groups must be a list", class = "bdl_error_invalid_argument")
})
