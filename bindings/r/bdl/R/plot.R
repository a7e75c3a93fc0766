# Pictures of a fit.

plot.bdl <- function(x, which = c("training", "calibration"), ...) {
  which <- match.arg(which, c("training", "calibration", "bands", "marginals"), several.ok = TRUE)
  if (length(which) > 1) {
    old <- graphics::par(mfrow = rev(grDevices::n2mfrow(length(which))))
    on.exit(graphics::par(old))
  }
  for (picture in which) {
    switch(picture, training = plot_training(x, ...), calibration = plot_calibration(x, ...),
           bands = plot_bands(x, ...), marginals = plot_marginals(x, ...))
  }
  invisible(x)
}

plot_training <- function(object, ...) {
  h <- object$history
  graphics::matplot(h$epoch, h[c("elbo", "expected_log_likelihood")], type = "l", lty = 1:2, col = c(1, 4),
                    xlab = "epoch", ylab = "nats", main = "Training", ...)
  graphics::legend("bottomright", c("ELBO", "expected log likelihood"), lty = 1:2, col = c(1, 4), bty = "n")
}

# Numbers: the share of targets below each predicted quantile. Classes: how often the predicted probability holds.
plot_calibration <- function(object, ...) {
  points <- if (!object$family %in% class_families) quantile_shares(object) else class_shares(object)
  graphics::plot(points$predicted, points$observed, xlim = 0:1, ylim = 0:1, xlab = "predicted probability",
                 ylab = "observed frequency", main = "Calibration", ...)
  graphics::abline(0, 1, lty = 3)
}

quantile_shares <- function(object) {
  probs <- seq(0.05, 0.95, 0.05)
  kept(object)
  q <- usual_predictions(object, object$x, "quantile", probs = probs)
  y <- object$response$y
  observed <- vapply(seq_along(probs), function(k) {
    stats::weighted.mean(y <= if (length(dim(q)) == 3) q[, , k] else q[, k], rep(row_weights(object), length.out = length(y)))
  }, 0)
  list(predicted = probs, observed = observed)
}

class_shares <- function(object) {
  kept(object)
  p <- usual_predictions(object, object$x, "prob")
  y <- object$response$y
  if (object$family %in% binary_families && ncol(y) == 1) y <- cbind(1 - y, y) # shares of successes too
  if (ncol(y) == 1) y <- outer(drop(y), seq_len(ncol(p)) - 1, "==") + 0
  bin <- cut(as.vector(p), seq(0, 1, 0.1), include.lowest = TRUE)
  weights <- rep(row_weights(object), length.out = length(p))
  in_bins <- function(values) tapply(weights * as.vector(values), bin, sum) / tapply(weights, bin, sum)
  list(predicted = in_bins(p), observed = in_bins(y))
}

row_weights <- function(object) if (is.null(object$response$weights)) rep(1, nrow(object$x)) else object$response$weights

plot_bands <- function(object, level = 0.95, ...) {
  kept(object)
  if (ncol(object$x) != 1 || object$response$outputs != 1 || isTRUE(object$settings$is_null)) {
    refuse("bands are for one predictor and one response", call = quote(plot.bdl()))
  }
  x <- matrix(seq(min(object$x), max(object$x), length.out = 200), dimnames = list(NULL, colnames(object$x)))
  band <- usual_predictions(object, x, "response", interval = "prediction", level = level)
  name <- if (is.null(colnames(x))) "x" else colnames(x)
  graphics::plot(object$x, object$response$y, ylim = range(band, object$response$y), xlab = name, ylab = "response",
                 main = sprintf("Predictions, %g %%", 100 * level), type = "n", ...)
  graphics::polygon(c(x, rev(x)), c(band[, "lwr"], rev(band[, "upr"])), col = "grey85", border = NA)
  graphics::points(object$x, object$response$y, pch = 20)
  graphics::lines(x, band[, "fit"], lwd = 2)
}

plot_marginals <- function(object, parm = seq_len(min(6, object$parameters)), ...) {
  if (is_point(object)) refuse("there are no marginals: ", no_covariance(object), call = quote(plot.bdl()))
  centre <- coef(object)[parm]
  v <- vcov(object)
  sd <- sqrt(vapply(match(names(centre), coefficient_names(object)), function(k) v[k, k], 0))
  x <- vapply(seq_along(centre), function(k) centre[k] + sd[k] * seq(-4, 4, length.out = 101), numeric(101))
  y <- vapply(seq_along(centre), function(k) stats::dnorm(x[, k], centre[k], sd[k]), numeric(101))
  graphics::matplot(x, y, type = "l", lty = 1, xlab = "coefficient", ylab = "posterior density", main = "Marginals", ...)
  graphics::legend("topright", names(centre), lty = 1, col = seq_along(centre), bty = "n")
}
