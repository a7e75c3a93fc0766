# Coefficients: of generalised linear models in the units of the data, of networks all parameters as they are.

coef.bdl <- function(object, ...) {
  mean <- mean(handles_of(object)$posterior)
  map <- coefficient_map(object)
  if (is.null(map)) return(stats::setNames(mean, coefficient_names(object)))
  value <- vapply(map, function(row) row$shift + sum(row$weight * mean[row$index]), 0)
  stats::setNames(value, coefficient_names(object))
}

# A matrix for linear models, lazy for networks, which have many parameters. Of a point it is NaN.
vcov.bdl <- function(object, ...) {
  one_posterior(object, "vcov()")
  warn_of_point(object)
  covariance_of(object)
}

covariance_of <- function(object) {
  names <- coefficient_names(object)
  covariance <- new_vcov(if (!is_point(object)) function() handles_of(object)$posterior, length(names), names, coefficient_map(object))
  if (is_linear(object)) as.matrix(covariance) else covariance
}

warn_of_point <- function(object) if (is_point(object)) warn_of(paste0("NaN: ", no_covariance(object)))

no_covariance <- function(object) {
  paste0('method "', object$settings$method, '" finds a point, which has no covariance: method "laplace", or that by default, finds one')
}

confint.bdl <- function(object, parm, level = 0.95, ...) {
  warn_of_point(object)
  limits_of(object, parm, level)
}

limits_of <- function(object, parm, level) {
  estimate <- coef(object)
  sd <- sqrt(diag(covariance_of(object)))
  if (missing(parm)) parm <- seq_along(estimate)
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  limits <- estimate[parm] + outer(sd[parm], stats::qnorm(tails))
  dimnames(limits) <- list(names(estimate[parm]), paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  limits
}

coefficient_names <- function(object) {
  if (!is_linear(object)) return(parameter_names(handles_of(object)$model))
  inputs <- colnames(own_inputs(object))
  if (is.null(inputs)) inputs <- paste0("x", seq_len(ncol(own_inputs(object))))
  if (isTRUE(object$settings$is_null)) inputs <- NULL
  names <- c(if (object$settings$bias) "(Intercept)", inputs)
  outputs <- if (object$response$outputs > 1) output_names(object)
  if (object$response$outputs > 1 && is.null(outputs)) outputs <- paste0("y", seq_len(object$response$outputs))
  if (is.null(outputs)) names else paste0(rep(outputs, each = length(names)), ":", names)
}

# The network of a linear model sees (x - m) / s and gives (f - a) / b: its weights w are b w / s in the units of
# the data, and its bias is a + b (bias - sum_j w_j m_j / s_j).
coefficient_map <- function(object) {
  if (!is_linear(object)) return(NULL)
  p <- ncol(own_inputs(object))
  outputs <- object$response$outputs
  s <- lapply(bdl_model_get_standardization(handles_of(object)$model, c(1, p), c(1, p), c(1, outputs), c(1, outputs)),
              drop)
  rows <- lapply(seq_len(outputs), function(c) {
    at <- (c - 1) * p + seq_len(p)
    weight <- s$target_scale[c] / s$input_scale
    slopes <- lapply(seq_len(p), function(j) list(index = at[j], weight = weight[j], shift = 0))
    if (!object$settings$bias) return(slopes)
    if (isTRUE(object$settings$is_null)) slopes <- NULL
    intercept <- list(index = c(outputs * p + c, at), weight = c(s$target_scale[c], -weight * s$input_mean),
                      shift = s$target_mean[c])
    c(list(intercept), slopes)
  })
  do.call(base::c, rows)
}
