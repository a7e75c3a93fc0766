# Scores of predictions that need more than the library's own function, and their pictures.

scores <- c(confidence = BDL_SCORE_CONFIDENCE, entropy = BDL_SCORE_ENTROPY)

bdl_calibration_curve <- function(probabilities, y, bins = 15) {
  curve <- bdl_metric_calibration_curve(as_inputs(probabilities, "probabilities"), as_inputs(y, "y"), c(bins, 3))
  data.frame(count = curve[, 1], accuracy = curve[, 2], confidence = curve[, 3])
}

bdl_entropy <- function(probabilities) {
  p <- as_inputs(probabilities, "probabilities")
  drop(bdl_metric_entropy(p, c(nrow(p), 1)))
}

bdl_entropy_histogram <- function(probabilities, bins = 15) {
  p <- as_inputs(probabilities, "probabilities")
  counts <- bdl_metric_entropy_histogram(p, c(bins, 1))
  edges <- seq(0, log(max(2, ncol(p))), length.out = bins + 1)
  data.frame(from = edges[-(bins + 1)], to = edges[-1], count = drop(counts))
}

# The library has a row for each score, so equal ones repeat theirs.
bdl_roc_curve <- function(positive, negative) {
  positive <- as_inputs(positive, "positive")
  negative <- as_inputs(negative, "negative")
  curve <- bdl_metric_roc_curve(positive, negative, c(nrow(positive) + nrow(negative) + 1, 3))
  curve <- curve[!duplicated(curve[, 3]), , drop = FALSE]
  data.frame(fpr = curve[, 1], tpr = curve[, 2], threshold = curve[, 3])
}

bdl_auroc_correct <- function(probabilities, y, score = "confidence") {
  number <- number_of(score, scores, "score")
  bdl_metric_auroc_correct(as_inputs(probabilities, "probabilities"), as_inputs(y, "y"), number)
}

bdl_ood <- function(inside, outside, score = "confidence") {
  number <- number_of(score, scores, "score")
  bdl_metric_ood(as_inputs(inside, "inside"), as_inputs(outside, "outside"), number)
}

bdl_temper <- function(logits, temperature) {
  logits <- as_inputs(logits, "logits")
  bdl_temperature_apply(logits, temperature, dim(logits))
}

bdl_plot_reliability <- function(probabilities, y, bins = 10, ...) {
  curve <- bdl_calibration_curve(probabilities, y, bins)
  used <- curve[curve$count > 0, ]
  graphics::plot(used$confidence, used$accuracy, type = "b", pch = 20, cex = 1 + 3 * used$count / sum(used$count),
                 xlim = 0:1, ylim = 0:1, xlab = "probability of the predicted class",
                 ylab = "share of right predictions", main = "Reliability", ...)
  graphics::abline(0, 1, lty = 3)
  invisible(curve)
}

bdl_plot_entropies <- function(groups, bins = 15, ...) {
  if (!is.list(groups) || is.data.frame(groups) || !length(groups) || is.null(names(groups))) {
    refuse("groups must be a list of probabilities, list(name = probabilities, ...)")
  }
  histograms <- lapply(groups, bdl_entropy_histogram, bins = bins)
  shares <- lapply(histograms, function(h) h$count / sum(h$count))
  colours <- seq_along(groups)
  graphics::plot(NULL, xlim = range(0, vapply(histograms, function(h) max(h$to), 0)), ylim = range(0, unlist(shares)),
                 xlab = "entropy (nats)", ylab = "share", main = "Entropies", ...)
  for (k in colours) {
    h <- histograms[[k]]
    graphics::lines(c(h$from[1], h$to), c(shares[[k]], shares[[k]][bins]), type = "s", col = k, lwd = 2)
  }
  graphics::legend("topleft", names(groups), lty = 1, lwd = 2, col = colours, bty = "n")
  invisible(histograms)
}

bdl_plot_roc <- function(positive, negative, ...) {
  curve <- bdl_roc_curve(positive, negative)
  area <- bdl_metric_auroc(as_inputs(positive, "positive"), as_inputs(negative, "negative"))
  graphics::plot(curve$fpr, curve$tpr, type = "l", lwd = 2, xlim = 0:1, ylim = 0:1, xlab = "false positive rate",
                 ylab = "true positive rate", main = sprintf("AUROC %.3f", area), ...)
  graphics::abline(0, 1, lty = 3)
  invisible(curve)
}
