# Predictions. Rows with missing inputs have missing predictions, as those of lm() do.

predict.bdl <- function(object, newdata = NULL,
                        type = c("response", "link", "interval", "class", "prob", "draws", "quantile", "novelty"),
                        se.fit = FALSE, interval = c("none", "confidence", "prediction"), level = 0.95,
                        probs = c(0.025, 0.5, 0.975), of = c("y", "mean", "link"),
                        method = NULL, samples = object$settings$samples,
                        seed = object$prediction_seed, na.action = stats::na.pass, offset = NULL, ...) {
  no_more(...)
  type <- match.arg(type)
  interval <- match.arg(interval)
  of <- match.arg(of)
  check_asked(object, type, interval, of, level)
  if (type %in% c("class", "prob") && !object$family %in% class_families) {
    refuse('type = "', type, '" is for classes, the family is ', object$family, kind = "unsupported")
  }
  if (type == "interval") {
    type <- "response"
    interval <- "prediction"
  }
  method <- if (is.null(method)) prediction_method(object, type) else number_of(method, prediction_methods, "method")
  x <- inputs_of(object, newdata, na.action, offset)
  spreads <- (type %in% c("response", "link") && se.fit) || interval == "confidence" || (type == "quantile" && of != "y")
  if (spreads && is_without_spread(object)) warn_of_point(object)
  answer <- function(x) {
    result <- predict_rows(object, x, asked_for(type, se.fit, interval, level, probs, of), method, samples, seed)
    if (se.fit && is.list(result) && is_without_spread(object)) result$se.fit[] <- NaN
    result
  }
  given <- if (is.raw(x)) seq_len(nrow(x)) else which(stats::complete.cases(x)) # bytes are never missing
  if (!length(given) || length(given) < nrow(x)) {
    some <- if (length(given)) x[given, , drop = FALSE] else object$x[1, , drop = FALSE]
    return(spread(answer(some), if (length(given)) given else 0L, nrow(x), rownames(x)))
  }
  result <- answer(x)
  if (is.null(newdata) && !is.null(object$na.action)) result <- padded(result, object$na.action)
  result
}

# A point, whose means have no spread; the members of an ensemble of points differ.
is_without_spread <- function(object) is.null(object$members) && is_point(object)

check_asked <- function(object, type, interval, of, level) {
  call <- sys.call(-1)
  classes <- object$family %in% class_families
  if (interval != "none" && !type %in% c("response", "link", "prob", "interval")) {
    refuse('interval = "', interval, '" is for type = "response", "link" or "prob"', call = call)
  }
  if (interval == "prediction" && type %in% c("link", "prob")) {
    refuse('type = "', type, '" has interval = "confidence": a new response is in the units of type = "response"', call = call)
  }
  if (classes && (interval == "prediction" || type == "interval")) {
    refuse('a new class has no interval: interval = "confidence" is that of its probability', kind = "unsupported", call = call)
  }
  if (!is.numeric(level) || length(level) != 1 || !isTRUE(level > 0 && level < 1)) {
    refuse("level must be a number between 0 and 1", call = call)
  }
  if (of != "y" && !type %in% c("draws", "quantile")) refuse('of is for type = "draws" or "quantile"', call = call)
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
                  quantiles_of = bdl_predictor_quantiles_of, draws_of = bdl_predictor_draws_of,
                  log_likelihood = bdl_predictor_log_likelihood)
    return(function(what, ...) asked[[what]](predictor, x, ...))
  }
  handles <- handles_of(object)
  asked <- list(moments = bdl_predict, classes = bdl_predict_classes, interval = bdl_predict_interval,
                quantiles_of = bdl_predict_quantiles_of, draws_of = bdl_predict_draws_of)
  function(what, ...) asked[[what]](handles$model, handles$posterior, x, method, samples, seed, ...)
}

# A kind of prediction, and predictions of that kind by the usual method.
asked_for <- function(type, se.fit = FALSE, interval = "none", level = 0.95, probs = NULL, of = "y") {
  list(type = type, se.fit = se.fit, interval = interval, level = level, probs = probs, of = of)
}

usual_predictions <- function(object, x, ...) {
  predict_rows(object, x, asked_for(...), prediction_method(object), object$settings$samples, object$prediction_seed)
}

# Predictions of complete rows.
predict_rows <- function(object, x, asked, method, samples, seed) {
  shape <- c(nrow(x), moment_columns(object))
  ask <- asker(object, x, method, samples, seed)
  class_probabilities <- function() ask("classes", shape, NULL, NULL)$probabilities
  switch(asked$type,
    response = with_uncertainty(object, x, response_means(object, x, ask, asked$se.fit), ask, asked),
    link = with_uncertainty(object, x, link_means(object, x, ask, method, samples, asked$se.fit), ask, asked),
    prob = if (asked$interval == "none") probabilities(object, class_probabilities(), x) else
      probability_intervals(object, x, class_probabilities(), credible_limits(object, ask, shape, "mean", asked$level)),
    class = most_probable(object, class_probabilities(), x),
    quantile = quantiles(object, x, asked$probs, credible_quantiles(object, ask, shape, asked$of, asked$probs)),
    draws = draws_of(object, x, method, samples, seed, asked$of),
    novelty = novelty_of(object, x)
  )
}

# Means with or without standard deviations, as a list of fit, se.fit and noise.
response_means <- function(object, x, ask, se.fit) {
  shape <- c(nrow(x), moment_columns(object))
  found <- lapply(ask("moments", shape, if (se.fit) shape, if (se.fit) shape), labelled, object, x)
  means <- list(fit = found$mean)
  if (!se.fit) return(means)
  means$se.fit <- sqrt(found$epistemic_variance)
  means$noise <- sqrt(found$noise_variance)
  means
}

# Mean and standard deviation of the linear predictor: of its distribution where that is Gaussian, else of draws.
link_means <- function(object, x, ask, method, samples, se.fit) {
  outputs <- object$response$outputs
  shape <- c(nrow(x), outputs)
  if (is.null(object$members) && method %in% c(BDL_QUADRATURE, BDL_LINEARIZED, BDL_PLUG_IN)) {
    handles <- handles_of(object)
    all <- bdl_model_outputs(handles$model)
    spread <- se.fit && !is_point(object)
    law <- bdl_predict_output_distribution(handles$model, handles$posterior, x, c(nrow(x), all), if (spread) c(nrow(x), all^2))
    mean <- law$mean[, seq_len(outputs), drop = FALSE]
    sd <- if (spread) sqrt(law$covariance[, (seq_len(outputs) - 1) * (all + 1) + 1, drop = FALSE]) else mean * NaN
  } else {
    count <- samples * max(1, length(object$members))
    draws <- array(ask("draws_of", BDL_QUANTITY_LINK, c(nrow(x), outputs * count)), c(nrow(x), count, outputs))
    mean <- matrix(apply(draws, c(1, 3), mean), nrow(x))
    sd <- if (se.fit) matrix(apply(draws, c(1, 3), stats::sd), nrow(x))
  }
  means <- list(fit = labelled(mean, object, x))
  if (se.fit) means$se.fit <- labelled(sd, object, x)
  means
}

# As predict.lm(): the means alone, or with limits in columns; a list where standard deviations are wanted too.
with_uncertainty <- function(object, x, means, ask, asked) {
  shape <- c(nrow(x), object$response$outputs)
  if (asked$interval == "prediction") {
    means$fit <- intervals(object, x, means$fit, ask("interval", asked$level, shape, shape))
  } else if (asked$interval == "confidence") {
    of <- if (asked$type == "link") "link" else "mean"
    means$fit <- intervals(object, x, means$fit, credible_limits(object, ask, shape, of, asked$level))
  }
  if (asked$se.fit) means else means$fit
}

credible_quantiles <- function(object, ask, shape, of, probs) {
  columns <- c(shape[1], shape[2] * length(probs))
  if (of != "y" && is_without_spread(object)) return(matrix(NaN, columns[1], columns[2]))
  ask("quantiles_of", quantities[[of]], probs, columns)
}

credible_limits <- function(object, ask, shape, of, level) {
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  found <- credible_quantiles(object, ask, shape, of, tails)
  list(lower = found[, c(TRUE, FALSE), drop = FALSE], upper = found[, c(FALSE, TRUE), drop = FALSE])
}

probability_intervals <- function(object, x, p, limits) {
  parts <- list(p, limits$lower, limits$upper)
  if (ncol(p) == 1 && is.null(object$response$names)) parts <- list(cbind(1 - p, p), cbind(1 - limits$upper, limits$lower),
                                                                    cbind(1 - limits$lower, limits$upper))
  names <- dimnames(probabilities(object, p, x))
  array(unlist(parts), c(dim(parts[[1]]), 3), c(names, list(c("fit", "lwr", "upr"))))
}

# A matrix of one column becomes a named vector.
labelled <- function(values, object, x) {
  if (is.null(values)) return(NULL)
  if (ncol(values) == 1) return(stats::setNames(drop(values), rownames(x)))
  dimnames(values) <- list(rownames(x), output_names(object))
  values
}

# Columns of the means of y: one for each class or level where y is one of them.
moment_columns <- function(object) {
  if (object$family == "ordinal") length(object$response$levels) else object$response$outputs
}

output_names <- function(object) {
  if (object$family %in% choice_families) object$response$levels else object$response$names
}

probabilities <- function(object, p, x) {
  labels <- object$response$levels
  if (is.null(labels) && ncol(p) == 1) labels <- if (object$response$kind == "logical") c("FALSE", "TRUE") else c("0", "1")
  if (ncol(p) == 1) p <- cbind(1 - p, p)
  dimnames(p) <- list(rownames(x), if (is.null(labels)) object$response$names else labels)
  p
}

most_probable <- function(object, p, x) {
  if (object$family %in% choice_families) return(decode(object, max.col(p, "first") - 1))
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
        list(rownames(x), output_names(object), c("fit", "lwr", "upr")))
}

quantiles <- function(object, x, probs, values) {
  labels <- paste0(format(100 * probs, trim = TRUE, digits = 7), "%")
  if (ncol(values) == length(probs)) {
    dimnames(values) <- list(rownames(x), labels)
    return(values)
  }
  values <- array(values, c(nrow(x), length(probs), ncol(values) / length(probs)),
                  list(rownames(x), labels, output_names(object)))
  aperm(values, c(1, 3, 2))
}

# Draws of the response, its mean or link: rows by draws, or rows by targets by draws.
draws_of <- function(object, x, method, samples, seed, of = "y") {
  targets <- if (of == "y") bdl_model_targets(handles_of(object)$model) else object$response$outputs
  ask <- asker(object, x, method, samples, seed)
  samples <- samples * max(1, length(object$members))
  draws <- ask("draws_of", quantities[[of]], c(nrow(x), targets * samples))
  draws <- by_column(draws, targets, samples)
  shape <- if (targets == 1) c(nrow(x), samples) else c(nrow(x), targets, samples)
  names <- list(rownames(x), if (targets > 1) output_names(object), NULL)
  if (targets == 1) names <- names[-2]
  if (of == "y" && object$family %in% class_families) {
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
