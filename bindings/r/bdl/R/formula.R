# The formula interface and the one for matrices: they make x and y, which fit.R learns from.

bdl <- function(x, ...) UseMethod("bdl")

bdl.formula <- function(formula, data = NULL, family = NULL, method = NULL, rank = NULL, hidden = bdl_default("hidden"),
                        activation = "relu", epochs = bdl_default("epochs"), standardize = TRUE, seed = NULL,
                        samples = bdl_default("samples"), noise = "auto", prior = NULL, subset, na.action,
                        dropout = bdl_default("hidden_rate"), members = 1, control = list(),
                        verbose = interactive(), contrasts = NULL, weights, offset, ...) {
  no_more(...)
  check_terms(formula)
  call <- match.call()
  wanted <- match(c("formula", "data", "subset", "weights", "na.action", "offset"), names(call), 0L)
  frame <- call[c(1L, wanted)]
  frame[[1L]] <- quote(stats::model.frame)
  frame <- eval(frame, parent.frame())
  terms <- attr(frame, "terms")
  check_has_rows(frame)
  declared <- levels(stats::model.response(frame))
  frame <- with_used_levels(frame)
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  kept <- attr(x, "contrasts")
  x <- without_intercept(x)
  is_null <- ncol(x) == 0
  if (is_null && length(hidden) > 0) refuse("the formula has no predictors, which a network needs: y ~ 1 is for bdl_glm()")
  if (is_null && attr(terms, "intercept") == 0) refuse("the formula has neither predictors nor an intercept")
  if (is_null) x <- null_input(x)
  y <- stats::model.response(frame)
  if (is.null(y)) refuse("the formula has no response")
  weights <- checked_weights(stats::model.weights(frame), nrow(frame))
  offset <- checked_offset(stats::model.offset(frame), nrow(frame))
  settings <- list(method = method, rank = rank, dropout = dropout, members = members, hidden = hidden,
                   activation = activation, epochs = epochs, standardize = standardize, samples = samples, noise = noise,
                   prior = prior, dtype = "double",
                   bias = length(hidden) > 0 || attr(terms, "intercept") == 1)
  settings$is_null <- is_null
  fit <- fit_bdl(x, y, family, settings, seed, control, verbose, declared, weights, offset)
  fit$terms <- terms
  fit$xlevels <- stats::.getXlevels(terms, frame)
  fit$contrasts <- kept
  fit$na.action <- attr(frame, "na.action")
  finish(fit, call)
}

bdl.default <- function(x, y, family = NULL, method = NULL, rank = NULL, hidden = bdl_default("hidden"), activation = "relu",
                        epochs = bdl_default(if (is.null(network)) "epochs" else "image_epochs"), standardize = TRUE,
                        seed = NULL, samples = bdl_default(if (is.null(network)) "samples" else "image_samples"),
                        noise = "auto", prior = NULL, dropout = bdl_default("hidden_rate"), members = 1,
                        control = list(), verbose = interactive(), network = NULL, image = NULL, dtype = if (is.null(network)) "double" else "single",
                        weights = NULL, offset = NULL, ...) {
  no_more(...)
  call <- match.call()
  if (missing(x) || missing(y)) refuse("bdl() needs a formula, or x and y")
  settings <- list(method = method, rank = rank, dropout = dropout, members = members, hidden = hidden,
                   activation = activation, epochs = epochs, standardize = standardize, samples = samples, noise = noise,
                   prior = prior, network = network, image = image, dtype = dtype,
                   bias = TRUE)
  check_network(network, image, !missing(hidden) || !missing(activation))
  if (is.null(network)) {
    x <- as_inputs(x)
  } else {
    images <- with_images(x, settings)
    x <- images$x
    settings <- images$settings
    settings$hidden <- settings$activation <- NULL
  }
  fit <- fit_bdl(x, y, family, settings, seed, control, verbose, NULL, checked_weights(weights, nrow(x)),
                 checked_offset(offset, nrow(x)))
  finish(fit, call)
}

# The data set has the response as well; the fit does not keep it.
bdl.bdl_dataset <- function(x, family = NULL, method = NULL, rank = NULL, hidden = bdl_default("hidden"), activation = "relu",
                            epochs = bdl_default(if (is.null(network)) "epochs" else "image_epochs"), standardize = TRUE,
                            seed = NULL, samples = bdl_default(if (is.null(network)) "samples" else "image_samples"),
                            noise = "auto", prior = NULL, dropout = bdl_default("hidden_rate"), members = 1,
                            control = list(), verbose = interactive(), network = NULL, image = NULL,
                            dtype = if (is.null(network)) "double" else "single", ...) {
  no_more(...)
  call <- match.call()
  settings <- list(method = method, rank = rank, dropout = dropout, members = members, hidden = hidden,
                   activation = activation, epochs = epochs, standardize = standardize, samples = samples, noise = noise,
                   prior = prior, network = network, image = image, dtype = dtype,
                   bias = TRUE)
  check_network(network, image, !missing(hidden) || !missing(activation))
  if (!is.null(network)) {
    settings$image <- image_shape(NULL, image)
    settings$hidden <- settings$activation <- NULL
  }
  fit <- fit_bdl(x, NULL, if (is.null(family)) "gaussian" else family, settings, seed, control, verbose)
  finish(fit, call)
}

bdl_glm <- function(x, ...) {
  call <- match.call()
  if (!is.null(call$hidden)) refuse("a generalised linear model has no hidden units: use bdl() for networks")
  call[[1L]] <- quote(bdl::bdl)
  names(call)[names(call) == "x"] <- ""
  call$hidden <- quote(integer(0))
  fit <- eval(call, parent.frame())
  fit$call[[1L]] <- quote(bdl_glm)
  fit$call$hidden <- NULL
  fit
}

# Terms of lme4 and brms would be taken as columns of truth values.
check_terms <- function(formula) {
  for (term in as.list(attr(stats::terms(formula, allowDotAsName = TRUE), "variables"))[-1]) {
    if (!is.call(term) || !deparse(term[[1L]])[1] %in% c("|", "||")) next
    refuse("(", deparse(term)[1], ") is a term of mixed models (lme4, brms), which are not supported: ",
           deparse(term[[3L]])[1], " can be a predictor like others; a truth value is I(a | b)", call = sys.call(-1))
  }
}

check_has_rows <- function(frame) {
  if (nrow(frame) > 0) return(invisible())
  omitted <- length(attr(frame, "na.action"))
  refuse("there are no rows", if (omitted) paste0(" without missing values: all ", omitted, " have some"), call = sys.call(-1))
}

# As model.frame(drop.unused.levels = TRUE), but the response's own levels are known before.
with_used_levels <- function(frame) {
  for (name in names(frame)) {
    x <- frame[[name]]
    if (is.factor(x) && length(unique(x[!is.na(x)])) < nlevels(x)) frame[[name]] <- x[, drop = TRUE]
  }
  frame
}

# A misspelt argument would otherwise be lost without a word.
no_more <- function(...) {
  if (...length() == 0) return(invisible())
  names <- ...names()
  refuse("unknown argument", if (!is.null(names)) paste0(" ", some_of(names)), call = sys.call(-1))
}

finish <- function(fit, call) {
  call[[1L]] <- quote(bdl)
  fit$call <- call
  say_aliased(fit)
}

without_intercept <- function(x) {
  x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  attr(x, "assign") <- NULL
  attr(x, "contrasts") <- NULL
  x
}

# Selects columns by name if both have names.
columns_of <- function(newdata, names) {
  if (is.null(names) || is.null(colnames(newdata))) return(newdata)
  missing <- setdiff(names, colnames(newdata))
  if (length(missing)) refuse("newdata has no column ", some_of(missing), call = quote(predict.bdl()))
  newdata[, names, drop = FALSE]
}

# The rows of newdata as the model was given its own, missing values included.
inputs_of <- function(object, newdata, na.action, offset = NULL) {
  if (is.null(newdata)) {
    if (!is.null(offset)) refuse("offset belongs to newdata", call = quote(predict.bdl()))
    return(kept(object)$x)
  }
  if (is.null(object$terms)) {
    x <- if (!is.null(object$settings$network)) image_rows(newdata, object$settings$image, "newdata") else
      as_inputs(columns_of(newdata, colnames(own_inputs(object))), "newdata")
    return(with_offsets(x, new_offset(object, NULL, offset, nrow(x))))
  }
  terms <- stats::delete.response(object$terms)
  frame <- frame_of_new(object, terms, newdata, na.action)
  classes <- attr(terms, "dataClasses")
  if (!is.null(classes)) stats::.checkMFClasses(classes, frame)
  x <- without_intercept(stats::model.matrix(terms, frame, contrasts.arg = object$contrasts))
  if (isTRUE(object$settings$is_null)) x <- null_input(x)
  with_offsets(x, new_offset(object, frame, offset, nrow(x)))
}

# A network is given by its layers, or by the sizes of hidden ones.
check_network <- function(network, image, has_hidden) {
  if (is.null(network) && !is.null(image)) refuse("image is for a network that is given by its layers: network =")
  if (!is.null(network) && has_hidden) refuse("network gives all layers: do not pass hidden or activation with it")
}
