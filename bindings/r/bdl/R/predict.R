# Predictions. Rows with missing inputs have missing predictions, as those of lm() do.

predict.bdl <- function(object, newdata = NULL,
                        type = c("response", "interval", "class", "prob", "draws", "quantile", "novelty"), se.fit = FALSE,
                        interval = c("none", "prediction"), level = 0.95, probs = c(0.025, 0.5, 0.975),
                        method = NULL, samples = object$settings$samples,
                        seed = object$prediction_seed, na.action = stats::na.pass, offset = NULL, ...) {
  no_more(...)
  type <- match.arg(type)
  if (type %in% c("class", "prob") && !object$family %in% c("bernoulli", "categorical")) {
    refuse('type = "', type, '" is for classes, the family is ', object$family, kind = "unsupported")
  }
  if (match.arg(interval) == "prediction") type <- "interval"
  method <- if (is.null(method)) prediction_method(object, type) else number_of(method, prediction_methods, "method")
  x <- inputs_of(object, newdata, na.action, offset)
  has_errors <- type != "response" || !se.fit || !is.null(object$members) || !is_point(object)
  if (!has_errors) warn_of_point(object)
  given <- if (is.raw(x)) seq_len(nrow(x)) else which(stats::complete.cases(x)) # bytes are never missing
  if (!length(given) || length(given) < nrow(x)) {
    some <- if (length(given)) x[given, , drop = FALSE] else object$x[1, , drop = FALSE]
    known <- predict_rows(object, some, type, se.fit, level, probs, method, samples, seed)
    if (!has_errors) known$se.fit[] <- NaN
    return(spread(known, if (length(given)) given else 0L, nrow(x), rownames(x)))
  }
  result <- predict_rows(object, x, type, se.fit, level, probs, method, samples, seed)
  if (!has_errors) result$se.fit[] <- NaN
  if (is.null(newdata) && !is.null(object$na.action)) result <- padded(result, object$na.action)
  result
}

# As suits method and model. Integrals have no draws, and those of a point are of the noise alone.
prediction_method <- function(object, type = "response") {
  suits <- bdl_method_prediction(object$settings$method, handles_of(object)$model)
  if (type == "draws" && suits %in% c(BDL_PLUG_IN, BDL_QUADRATURE)) BDL_MONTE_CARLO else suits
}

# How the library is asked: once, or where the fit stands for the members of an ensemble, a predictor of them.
asker <- function(object, x, method, samples, seed) {
  if (!is.null(object$members)) {
    members <- lapply(lapply(object$members, handles_of), function(h) list(h$model, h$posterior))
    predictor <- bdl_predictor_create_ensemble(members, method, samples, seed)
    asked <- list(moments = bdl_predictor_moments, classes = bdl_predictor_classes, interval = bdl_predictor_interval,
                  quantiles = bdl_predictor_quantiles, draws = bdl_predictor_draws)
    return(function(what, ...) asked[[what]](predictor, x, ...))
  }
  handles <- handles_of(object)
  asked <- list(moments = bdl_predict, classes = bdl_predict_classes, interval = bdl_predict_interval,
                quantiles = bdl_predict_quantiles, draws = bdl_predict_draws_by)
  function(what, ...) asked[[what]](handles$model, handles$posterior, x, method, samples, seed, ...)
}

predict_rows <- function(object, x, type, se.fit, level, probs, method, samples, seed) {
  shape <- c(nrow(x), object$response$outputs)
  ask <- asker(object, x, method, samples, seed)
  moments <- function(wanted) {
    lapply(ask("moments", shape, if (wanted) shape, if (wanted) shape), labelled, object, x)
  }
  switch(type,
    response = if (se.fit) standard_errors(moments(TRUE)) else moments(FALSE)$mean,
    prob = probabilities(object, ask("classes", shape, NULL, NULL)$probabilities, x),
    class = most_probable(object, ask("classes", shape, NULL, NULL)$probabilities, x),
    interval = intervals(object, x, moments(FALSE)$mean, ask("interval", level, shape, shape)),
    quantile = quantiles(object, x, probs, ask("quantiles", probs, c(shape[1], shape[2] * length(probs)))),
    draws = draws_of(object, x, method, samples, seed),
    novelty = novelty_of(object, x)
  )
}

standard_errors <- function(moments) {
  list(fit = moments$mean, se.fit = sqrt(moments$epistemic_variance), noise = sqrt(moments$noise_variance))
}

# A matrix of one column becomes a named vector.
labelled <- function(values, object, x) {
  if (is.null(values)) return(NULL)
  if (ncol(values) == 1) return(stats::setNames(drop(values), rownames(x)))
  dimnames(values) <- list(rownames(x), output_names(object))
  values
}

output_names <- function(object) {
  if (object$family == "categorical") object$response$levels else object$response$names
}

probabilities <- function(object, p, x) {
  labels <- object$response$levels
  if (is.null(labels) && ncol(p) == 1) labels <- if (object$response$kind == "logical") c("FALSE", "TRUE") else c("0", "1")
  if (ncol(p) == 1) p <- cbind(1 - p, p)
  dimnames(p) <- list(rownames(x), if (is.null(labels)) object$response$names else labels)
  p
}

most_probable <- function(object, p, x) {
  if (object$family == "categorical") return(decode(object, max.col(p, "first") - 1))
  classes <- decode(object, drop(p > 0.5) + 0)
  if (is.matrix(classes)) dimnames(classes) <- list(rownames(x), object$response$names)
  classes
}

intervals <- function(object, x, fit, limits) {
  if (ncol(limits$lower) == 1) {
    values <- cbind(fit = fit, lwr = drop(limits$lower), upr = drop(limits$upper))
    rownames(values) <- rownames(x)
    return(values)
  }
  array(c(fit, limits$lower, limits$upper), c(dim(limits$lower), 3),
        list(rownames(x), object$response$names, c("fit", "lwr", "upr")))
}

quantiles <- function(object, x, probs, values) {
  labels <- paste0(format(100 * probs, trim = TRUE, digits = 7), "%")
  if (ncol(values) == length(probs)) {
    dimnames(values) <- list(rownames(x), labels)
    return(values)
  }
  values <- array(values, c(nrow(x), length(probs), ncol(values) / length(probs)),
                  list(rownames(x), labels, object$response$names))
  aperm(values, c(1, 3, 2))
}

# Draws of the response: rows by draws, or rows by targets by draws.
draws_of <- function(object, x, method, samples, seed) {
  targets <- bdl_model_targets(handles_of(object)$model)
  ask <- asker(object, x, method, samples, seed)
  samples <- samples * max(1, length(object$members))
  draws <- ask("draws", c(nrow(x), targets * samples))
  draws <- by_column(draws, targets, samples)
  shape <- if (targets == 1) c(nrow(x), samples) else c(nrow(x), targets, samples)
  names <- list(rownames(x), if (targets > 1) object$response$names, NULL)
  if (targets == 1) names <- names[-2]
  if (object$family %in% c("bernoulli", "categorical")) {
    draws <- decode(object, as.vector(draws))
    if (is.factor(draws)) draws <- as.character(draws)
  }
  array(draws, shape, names)
}

# Predictions of some rows as those of all, the others missing.
spread <- function(known, given, rows, names) {
  if (is.list(known)) return(lapply(known, spread, given, rows, names))
  at <- match(seq_len(rows), given)
  if (is.array(known) && length(dim(known)) == 3) {
    known <- known[at, , , drop = FALSE]
  } else if (is.matrix(known)) {
    known <- known[at, , drop = FALSE]
  } else {
    known <- known[at]
  }
  if (is.array(known)) rownames(known) <- names else if (!is.factor(known)) names(known) <- names
  known
}

padded <- function(result, action) {
  if (is.list(result)) return(lapply(result, padded, action))
  if (length(dim(result)) != 3 || !inherits(action, "exclude")) return(stats::napredict(action, result))
  rows <- nrow(result) + length(action)
  names <- character(rows)
  names[action] <- names(action)
  names[-action] <- rownames(result)
  spread(result, seq_len(rows)[-action], rows, names)
}
