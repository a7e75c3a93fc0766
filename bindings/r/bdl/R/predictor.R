# Predictors: a model and a posterior, or those of an ensemble, as they were, for many predictions.

bdl_predictor <- function(model, posterior, method = "monte_carlo", samples = bdl_default("samples"),
                          seed = bdl_default("seed")) {
  number <- number_of(method, prediction_methods, "method")
  models <- list(model)
  if (inherits(model, "bdl_model")) {
    predictor <- bdl_predictor_create(model, posterior, number, samples, seed)
  } else {
    if (!is.list(model) || length(model) == 0 || !is.list(posterior) || length(posterior) != length(model))
      refuse("model and posterior must be handles, or lists of as many handles, one or more")
    predictor <- bdl_predictor_create_ensemble(Map(list, unname(model), unname(posterior)), number, samples, seed)
    models <- model
    model <- models[[1]]
  }
  likelihood <- word_of(bdl_model_likelihood(model), likelihoods)
  outputs <- bdl_model_outputs(model)
  targets <- bdl_model_targets(model)
  attr(predictor, "facts") <- list(
    method = method, samples = samples * length(models), outputs = outputs, targets = targets,
    means = if (likelihood == "heteroscedastic") targets else outputs,
    moments = if (likelihood == "ordinal") bdl_model_level_count(model) else if (likelihood == "heteroscedastic") targets else outputs,
    has_variance = likelihood != "student_t" || all(vapply(models, bdl_model_get_degrees_of_freedom, 0) > 2),
    has_information = likelihood != "categorical" || method != "linearized"
  )
  predictor
}

predict.bdl_predictor <- function(object, newdata, type = c("moments", "interval", "quantile", "prob", "draws", "outputs", "leverage"),
                                  level = 0.95, probs = c(0.025, 0.5, 0.975), of = c("y", "mean", "link"), ...) {
  no_more(...)
  x <- as_inputs(newdata, "newdata")
  facts <- attr(object, "facts")
  of <- match.arg(of)
  drawn <- if (of == "y") facts$targets else facts$means
  shape <- c(nrow(x), facts$means)
  switch(match.arg(type),
    moments = predicted_moments(object, x, c(nrow(x), facts$moments)),
    interval = predicted_limits(object, x, shape, level, of),
    quantile = by_column(bdl_predictor_quantiles_of(object, x, quantities[[of]], probs, c(nrow(x), facts$means * length(probs))),
                         facts$means, length(probs)),
    prob = predicted_classes(object, x),
    draws = by_column(bdl_predictor_draws_of(object, x, quantities[[of]], c(nrow(x), drawn * facts$samples)), drawn, facts$samples),
    outputs = predicted_outputs(object, x),
    leverage = lapply(bdl_predictor_leverage(object, x, c(nrow(x), 1), c(nrow(x), 1)), as.vector)
  )
}

predicted_limits <- function(predictor, x, shape, level, of) {
  if (of == "y") return(bdl_predictor_interval(predictor, x, level, shape, shape))
  if (!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1)) refuse("level must be a number between 0 and 1")
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  found <- bdl_predictor_quantiles_of(predictor, x, quantities[[of]], tails, c(shape[1], 2 * shape[2]))
  list(lower = found[, c(TRUE, FALSE), drop = FALSE], upper = found[, c(FALSE, TRUE), drop = FALSE])
}

predicted_moments <- function(predictor, x, shape) {
  has_variance <- attr(predictor, "facts")$has_variance
  moments <- bdl_predictor_moments(predictor, x, shape, shape, if (has_variance) shape)
  if (!has_variance) moments$noise_variance <- matrix(Inf, shape[1], shape[2])
  moments
}

predicted_classes <- function(predictor, x) {
  facts <- attr(predictor, "facts")
  shape <- c(nrow(x), facts$targets)
  bdl_predictor_classes(predictor, x, c(nrow(x), facts$moments), shape, if (facts$has_information) shape)
}

# The covariance of one row's outputs is a matrix of its own.
predicted_outputs <- function(predictor, x) {
  outputs <- attr(predictor, "facts")$outputs
  law <- bdl_predictor_output_distribution(predictor, x, c(nrow(x), outputs), c(nrow(x), outputs^2))
  list(mean = law$mean, covariance = array(law$covariance, c(nrow(x), outputs, outputs)))
}

# Column c K + k belongs to output c: n x K of one output, else n x outputs x K.
by_column <- function(values, outputs, count) {
  if (outputs == 1) values else aperm(array(values, c(nrow(values), count, outputs)), c(1, 3, 2))
}
