# Comparison of models by the expected log predictive density of new rows.

bdl_log_likelihood <- function(object, newdata = NULL, y = NULL, samples = 2000, seed = NULL, method = NULL, weights = NULL, offset = NULL) {
  if (!inherits(object, "bdl")) refuse("object must be a fit of bdl() or bdl_glm()")
  if (!is_count(samples) || samples < 1) refuse("samples must be a number of draws, 1 or more")
  if (is.null(newdata) != is.null(y)) refuse("newdata and y belong together: the log likelihoods are of y")
  x <- inputs_of(object, newdata, stats::na.fail, offset)
  y <- if (is.null(y)) library_response(kept(object)$response) else response_again(object, y, weights)
  if (nrow(y) != nrow(x)) refuse("newdata has ", nrow(x), " rows, y has ", nrow(y))
  number <- if (is.null(method)) prediction_method(object, "draws") else number_of(method, prediction_methods, "method")
  if (is.null(seed)) seed <- drawn_seed()
  members <- max(1, length(object$members))
  if (members > 1) {
    values <- asker(object, x, number, samples, seed)("log_likelihood", y, c(samples * members, nrow(x)))
  } else {
    handles <- handles_of(object)
    values <- bdl_predict_log_likelihood(handles$model, handles$posterior, x, y, number, samples, seed, c(samples, nrow(x)))
  }
  colnames(values) <- rownames(x)
  values
}

# A new response with its weights; 1 where the fit has weights and none are given.
response_again <- function(object, y, weights) {
  values <- encoded_again(object, y)
  if (!is.null(object$response$weights)) return(cbind(values, if (is.null(weights)) 1 else weights))
  if (!is.null(weights)) refuse("weights are given, but the fit has none", call = sys.call(-1))
  values
}

# A response in the numbers of the fit's own.
encoded_again <- function(object, y) {
  if (is.data.frame(y)) y <- as.matrix(y)
  levels <- object$response$levels
  if (is.null(levels)) return(matrix(as.double(y), NROW(y)))
  at <- match(as.character(y), levels)
  if (anyNA(at)) {
    refuse("y has the class ", as.character(y)[is.na(at)][1], ", which the fit does not know", kind = "label", call = sys.call(-1))
  }
  matrix(as.double(at) - 1)
}

bdl_loo <- function(object, samples = 2000, seed = NULL) {
  logs <- log_likelihoods_of(object, samples, seed, "bdl_loo()")
  found <- bdl_metric_loo(logs, c(ncol(logs), 3))
  result <- new_elpd(found, c("elpd_loo", "p_loo", "looic"), logs)
  result$pareto_k <- stats::setNames(found$pointwise[, 3], colnames(logs))
  high <- sum(result$pareto_k > k_limit(nrow(logs)))
  if (high > 0) {
    warn_of(sprintf("Pareto k is above %.2g for %d of %d rows, whose elpd cannot be trusted: leave them out and fit again",
                    k_limit(nrow(logs)), high, ncol(logs)))
  }
  result
}

bdl_waic <- function(object, samples = 2000, seed = NULL) {
  logs <- log_likelihoods_of(object, samples, seed, "bdl_waic()")
  new_elpd(bdl_metric_waic(logs, c(ncol(logs), 2)), c("elpd_waic", "p_waic", "waic"), logs)
}

# Of a fit those of its data; a matrix is one of draws by rows.
log_likelihoods_of <- function(object, samples, seed, what) {
  if (!inherits(object, "bdl")) return(as_inputs(object, "object"))
  if (is_without_spread(object)) refuse(what, " needs draws of a posterior: ", no_covariance(object), kind = "unsupported", call = sys.call(-1))
  bdl_log_likelihood(object, samples = samples, seed = seed)
}

# Shapes above it say that importance sampling has failed (Vehtari et al. 2024).
k_limit <- function(draws) min(1 - 1 / log10(draws), 0.7)

new_elpd <- function(found, names, logs) {
  pointwise <- found$pointwise[, 1:2, drop = FALSE]
  dimnames(pointwise) <- list(colnames(logs), names[1:2])
  n <- ncol(logs)
  error <- function(v) if (n > 1) sqrt(n * stats::var(v)) else 0
  estimates <- cbind(Estimate = c(found$elpd, found$effective_parameters, -2 * found$elpd),
                     SE = c(found$standard_error, error(pointwise[, 2]), 2 * found$standard_error))
  rownames(estimates) <- names
  structure(class = "bdl_elpd", list(estimates = estimates, pointwise = pointwise, draws = nrow(logs)))
}

print.bdl_elpd <- function(x, digits = 1, ...) {
  cat(sprintf("Expected log predictive density of %d rows, from %d draws of the posterior\n\n", nrow(x$pointwise), x$draws))
  print(round(x$estimates, digits))
  if (!is.null(x$pareto_k)) {
    cat(sprintf("\nLargest Pareto k %.2f; values above %.2g cannot be trusted\n", max(x$pareto_k), k_limit(x$draws)))
  }
  invisible(x)
}
