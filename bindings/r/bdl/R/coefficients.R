# Coefficients: of generalised linear models in the units of the data, of networks all parameters as they are.

coef.bdl <- function(object, base = NULL, ...) {
  mean <- mean(handles_of(object)$posterior)
  map <- coefficient_map(object, base)
  if (is.null(map)) return(stats::setNames(mean, coefficient_names(object)))
  value <- vapply(map, function(row) row$shift + sum(row$weight * mean[row$index]), 0)
  stats::setNames(value, coefficient_names(object, base))
}

bdl_sample_coefficients <- function(object, samples = 1000, seed = NULL, base = NULL) {
  if (!inherits(object, "bdl")) refuse("object must be a fit of bdl() or bdl_glm()")
  one_posterior(object, "bdl_sample_coefficients()")
  if (!is_count(samples) || samples < 1) refuse("samples must be a number of draws, 1 or more")
  if (is.null(seed)) seed <- drawn_seed()
  draws <- bdl_posterior_sample(handles_of(object)$posterior, seed, 0, c(samples, object$parameters))
  map <- coefficient_map(object, base)
  if (!is.null(map)) {
    affine <- combine(map)
    shift <- vapply(map, `[[`, 0, "shift")
    draws <- draws[, affine$index, drop = FALSE] %*% t(affine$weights) + rep(shift, each = samples)
  }
  colnames(draws) <- coefficient_names(object, base)
  draws
}

# A matrix for linear models, lazy for networks, which have many parameters. Of a point it is NaN.
vcov.bdl <- function(object, base = NULL, ...) {
  one_posterior(object, "vcov()")
  warn_of_point(object)
  covariance_of(object, base)
}

covariance_of <- function(object, base = NULL) {
  names <- coefficient_names(object, base)
  covariance <- new_vcov(if (!is_point(object)) function() handles_of(object)$posterior, length(names), names,
                         coefficient_map(object, base))
  if (is_linear(object)) as.matrix(covariance) else covariance
}

warn_of_point <- function(object) if (is_point(object)) warn_of(paste0("NaN: ", no_covariance(object)))

no_covariance <- function(object) {
  paste0('method "', object$settings$method, '" finds a point, which has no covariance: method "laplace", or that by default, finds one')
}

confint.bdl <- function(object, parm, level = 0.95, base = NULL, ...) {
  warn_of_point(object)
  limits_of(object, parm, level, base)
}

limits_of <- function(object, parm, level, base = NULL) {
  estimate <- coef(object, base = base)
  sd <- sqrt(diag(covariance_of(object, base)))
  if (missing(parm)) parm <- seq_along(estimate)
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  degrees <- stats::setNames(coefficient_degrees(object, estimate), names(estimate))[parm]
  limits <- estimate[parm] + sd[parm] * outer(degrees, tails, function(nu, p) stats::qt(p, nu))
  dimnames(limits) <- list(names(estimate[parm]), paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  limits
}

# Degrees of freedom of each coefficient's distribution: where the noise was estimated it is Student's t.
coefficient_degrees <- function(object, estimate = coef(object)) {
  degrees <- Inf
  if (is_linear(object) && object$family == "gaussian" && object$settings$noise == "gaussian") {
    degrees <- bdl_model_noise_degrees_of_freedom(handles_of(object)$model, c(1, object$response$outputs))
  }
  rep(drop(degrees), each = length(estimate) / length(degrees))
}

coefficient_names <- function(object, base = NULL) {
  if (!is_linear(object)) return(parameter_names(handles_of(object)$model))
  inputs <- colnames(own_inputs(object))
  if (is.null(inputs)) inputs <- paste0("x", seq_len(ncol(own_inputs(object))))
  if (isTRUE(object$settings$is_null)) inputs <- NULL
  names <- c(if (object$settings$bias) "(Intercept)", inputs)
  outputs <- if (object$response$outputs > 1) output_names(object)
  if (object$response$outputs > 1 && is.null(outputs)) outputs <- paste0("y", seq_len(object$response$outputs))
  if (!is.null(base)) outputs <- outputs[-base_class(object, base)]
  if (is.null(outputs)) names else paste0(rep(outputs, each = length(names)), ":", names)
}

# The network of a linear model sees (x - m) / s and gives (f - a) / b: its weights w are b w / s in the units of
# the data, and its bias is a + b (bias - sum_j w_j m_j / s_j). Contrasts with a base class are differences of these.
coefficient_map <- function(object, base = NULL) {
  number <- if (!is.null(base)) base_class(object, base)
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
  if (!is.null(number)) rows <- lapply(rows[-number], Map, f = difference_of, rows[[number]])
  do.call(base::c, rows)
}

difference_of <- function(row, other) {
  list(index = c(row$index, other$index), weight = c(row$weight, -other$weight), shift = row$shift - other$shift)
}

# The place of the base class among the levels of the response.
base_class <- function(object, base) {
  if (object$family != "categorical" || !is_linear(object)) {
    refuse("base is for generalised linear models of three classes or more, of family \"categorical\"", kind = "unsupported", call = NULL)
  }
  at <- match(as.character(base), object$response$levels)
  if (length(at) != 1 || is.na(at)) {
    refuse("base must be one of the classes: ", paste0('"', object$response$levels, '"', collapse = ", "), call = NULL)
  }
  at
}
