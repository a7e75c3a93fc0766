# The formula interface and the one for matrices: they make x and y, which fit.R learns from.

bdl <- function(x, ...) UseMethod("bdl")

bdl.formula <- function(formula, data = NULL, family = NULL, method = NULL, rank = 5, hidden = 50,
                        activation = "relu", epochs = 120, standardize = TRUE, seed = NULL, samples = 500,
                        noise = "gaussian", prior = NULL, subset, na.action, control = list(), verbose = interactive(), contrasts = NULL,
                        ...) {
  no_more(...)
  call <- match.call()
  wanted <- match(c("formula", "data", "subset", "na.action"), names(call), 0L)
  frame <- call[c(1L, wanted)]
  frame$drop.unused.levels <- TRUE
  frame[[1L]] <- quote(stats::model.frame)
  frame <- eval(frame, parent.frame())
  terms <- attr(frame, "terms")
  if (!is.null(stats::model.offset(frame))) refuse("offsets are not supported")
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts)
  kept <- attr(x, "contrasts")
  x <- without_intercept(x)
  if (ncol(x) == 0) refuse("the formula has no predictors")
  y <- stats::model.response(frame)
  if (is.null(y)) refuse("the formula has no response")
  settings <- list(method = method, rank = if (!missing(rank)) rank, hidden = hidden,
                   activation = activation, epochs = epochs, standardize = standardize, samples = samples, noise = noise,
                   prior = prior,
                   bias = length(hidden) > 0 || attr(terms, "intercept") == 1)
  fit <- fit_bdl(x, y, family, settings, seed, control, verbose)
  fit$terms <- terms
  fit$xlevels <- stats::.getXlevels(terms, frame)
  fit$contrasts <- kept
  fit$na.action <- attr(frame, "na.action")
  finish(fit, call)
}

bdl.default <- function(x, y, family = NULL, method = NULL, rank = 5, hidden = 50, activation = "relu",
                        epochs = 120, standardize = TRUE, seed = NULL, samples = 500, noise = "gaussian",
                        prior = NULL, control = list(), verbose = interactive(), ...) {
  no_more(...)
  call <- match.call()
  if (missing(x) || missing(y)) refuse("bdl() needs a formula, or x and y")
  settings <- list(method = method, rank = if (!missing(rank)) rank, hidden = hidden,
                   activation = activation, epochs = epochs, standardize = standardize, samples = samples, noise = noise,
                   prior = prior,
                   bias = TRUE)
  finish(fit_bdl(as_inputs(x), y, family, settings, seed, control, verbose), call)
}

bdl_glm <- function(x, ...) {
  call <- match.call()
  if (!is.null(call$hidden)) refuse("a generalised linear model has no hidden units: bdl() takes them")
  call[[1L]] <- quote(bdl::bdl)
  names(call)[names(call) == "x"] <- ""
  call$hidden <- quote(integer(0))
  fit <- eval(call, parent.frame())
  fit$call[[1L]] <- quote(bdl)
  fit
}

# A misspelt argument would otherwise be lost without a word.
no_more <- function(...) {
  if (...length() == 0) return(invisible())
  names <- ...names()
  refuse("unknown argument", if (!is.null(names)) paste0(" ", paste(names, collapse = ", ")), call = sys.call(-1))
}

finish <- function(fit, call) {
  call[[1L]] <- quote(bdl)
  fit$call <- call
  fit
}

without_intercept <- function(x) {
  x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  attr(x, "assign") <- NULL
  attr(x, "contrasts") <- NULL
  x
}

# By their names, where both have some.
columns_of <- function(newdata, names) {
  if (is.null(names) || is.null(colnames(newdata))) return(newdata)
  missing <- setdiff(names, colnames(newdata))
  if (length(missing)) refuse("newdata has no column ", paste(missing, collapse = ", "), call = quote(predict.bdl()))
  newdata[, names, drop = FALSE]
}

# The rows of newdata as the model was given its own, missing values included.
inputs_of <- function(object, newdata, na.action) {
  if (is.null(newdata)) return(object$x)
  if (is.null(object$terms)) return(as_inputs(columns_of(newdata, colnames(object$x)), "newdata"))
  terms <- stats::delete.response(object$terms)
  frame <- stats::model.frame(terms, newdata, na.action = na.action, xlev = object$xlevels)
  classes <- attr(terms, "dataClasses")
  if (!is.null(classes)) stats::.checkMFClasses(classes, frame)
  without_intercept(stats::model.matrix(terms, frame, contrasts.arg = object$contrasts))
}
