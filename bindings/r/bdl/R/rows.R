# Weights and offsets of rows. The library takes them as the last columns of the response and of the inputs; here weights are
# part of the response, `weights`, and offsets are columns of x, `offsets` of them.

# Numbers of a model frame or of an argument, one for each row, or NULL.
checked_weights <- function(weights, rows, call = sys.call(-1)) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || NCOL(weights) != 1) refuse("weights must be numbers, one for each row", call = call)
  if (length(weights) != rows) refuse("weights has ", length(weights), " values, expected ", rows, ", one for each row", call = call)
  weights <- as.vector(weights)
  wrong <- which(!is.finite(weights) | weights < 0)
  if (length(wrong)) {
    refuse("the weight in row ", wrong[1], " is ", format(weights[wrong[1]]), ", expected a finite number of at least 0", call = call)
  }
  if (rows > 0 && all(weights == 0)) refuse("all weights are 0, expected a positive one", call = call)
  as.double(weights)
}

# Offsets as a matrix of a row for each row of x, or NULL.
checked_offset <- function(offset, rows, finite = TRUE, call = sys.call(-1)) {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset)) refuse("offset must be numbers", call = call)
  if (is.null(dim(offset)) && length(offset) == 1) offset <- rep(offset, rows)
  offset <- matrix(as.double(as.matrix(offset)), NROW(offset))
  if (nrow(offset) != rows) refuse("offset has ", nrow(offset), " rows, expected ", rows, call = call)
  wrong <- which(!is.finite(offset), arr.ind = TRUE)
  if (finite && nrow(wrong)) {
    refuse("the offset in row ", wrong[1, 1], " is ", format(offset[wrong[1, , drop = FALSE]]), ", expected a finite number", call = call)
  }
  offset
}

# The inputs with offsets as their last columns.
with_offsets <- function(x, offset) {
  if (is.null(offset)) return(x)
  colnames(offset) <- rep("(offset)", ncol(offset))
  if (is.raw(x)) x <- structure(as.integer(x), dim = dim(x), dimnames = dimnames(x))
  if (is.null(colnames(x)) && ncol(x) > 0) colnames(offset) <- NULL
  cbind(x, offset)
}

# A model of an intercept alone has one input, which is 0 in all rows: its coefficient, of which the data say nothing, is shown nowhere.
null_input <- function(x) matrix(0, nrow(x), 1, dimnames = list(rownames(x), "(none)"))

# The response as the library takes it.
library_response <- function(response) if (is.null(response$weights)) response$y else cbind(unname(response$y), response$weights)

# Real responses as they are without offsets, for statistics of them alone.
response_without_offsets <- function(x, response) {
  y <- library_response(response)
  count <- offset_count(response)
  if (count > 0) y[, seq_len(count)] <- y[, seq_len(count)] - x[, ncol(x) - count + seq_len(count)]
  y
}

offset_count <- function(response) if (is.null(response$offsets)) 0 else response$offsets

# Weights and offsets that a response has, told to a new model.
set_rows_of <- function(model, response) {
  if (!is.null(response$weights) || isTRUE(response$weighted)) bdl_model_set_row_weights(model, 1)
  offsets <- offset_count(response)
  if (offsets > 0) {
    bdl_model_set_offsets(model, 1)
    if (bdl_model_offset_count(model) != offsets) {
      refuse("offset has ", offsets, " columns, expected ", bdl_model_offset_count(model), ", one for each output", call = NULL)
    }
  }
  model
}

# Inputs of the fit's own data, or of new ones, without offsets.
own_inputs <- function(object) {
  x <- object$x
  offsets <- offset_count(object$response)
  if (offsets == 0) x else x[, seq_len(ncol(x) - offsets), drop = FALSE]
}

# The offsets of new rows: those of the formula and of the argument, or given ones; of a fit of matrices 0 without.
new_offset <- function(object, frame, given, rows) {
  count <- offset_count(object$response)
  if (!is.null(frame)) {
    if (!is.null(given)) refuse("the formula has the offset: newdata has its columns", call = quote(predict.bdl()))
    given <- stats::model.offset(frame)
  }
  if (count == 0) {
    if (!is.null(given)) refuse("the fit has no offset", call = quote(predict.bdl()))
    return(NULL)
  }
  if (is.null(given)) given <- matrix(0, rows, count)
  offset <- checked_offset(given, rows, FALSE, quote(predict.bdl()))
  if (ncol(offset) != count) refuse("offset has ", ncol(offset), " columns, expected ", count, call = quote(predict.bdl()))
  offset
}

# A model frame of new data, with the offset that the call had as an argument.
frame_of_new <- function(object, terms, newdata, na.action) {
  arguments <- list(terms, newdata, na.action = na.action, xlev = object$xlevels)
  asked <- object$call$offset
  if (is.null(asked)) return(do.call(stats::model.frame, arguments))
  values <- eval(asked, newdata, environment(object$terms))
  if (is.data.frame(newdata) && NROW(values) != nrow(newdata)) {
    refuse("the offset of the fit, ", deparse(asked)[1], ", has ", NROW(values), " values, newdata has ", nrow(newdata),
           " rows: write it in columns of data", call = quote(predict.bdl()))
  }
  do.call(stats::model.frame, c(arguments, list(offset = values)))
}

weights.bdl <- function(object, type = c("prior", "working"), ...) {
  if (match.arg(type) == "working") refuse("there are no working weights: the fit is no iteration of least squares", kind = "unsupported")
  weights <- object$response$weights
  if (is.null(weights)) return(NULL)
  stats::naresid(object$na.action, stats::setNames(weights, rownames(object$x)))
}

# As that of lm(), evaluated again.
model.frame.bdl <- function(formula, ...) {
  if (is.null(formula$terms)) refuse("the fit has no formula", kind = "unsupported")
  call <- formula$call
  frame <- call[c(1L, match(c("data", "subset", "weights", "na.action", "offset"), names(call), 0L))]
  given <- list(...)
  frame[names(given)] <- given
  frame[[1L]] <- quote(stats::model.frame)
  frame$formula <- formula$terms
  frame$xlev <- formula$xlevels
  eval(frame, environment(formula$terms), parent.frame())
}

# Columns of x that others determine: their coefficients are known from the prior alone. Only a flat prior lets that be seen.
say_aliased <- function(fit) {
  if (!is_linear(fit) || fit$parameters > 2000 || max(inverse.rle(fit$prior)[seq_len(ncol(own_inputs(fit)))]) > 1e-2) return(fit)
  x <- own_inputs(fit)
  if (fit$settings$bias) x <- cbind(`(Intercept)` = 1, x)
  if (!is.null(fit$response$weights)) x <- x[fit$response$weights > 0, , drop = FALSE]
  ranked <- qr(x)
  if (ranked$rank == ncol(x)) return(fit)
  at <- sort(ranked$pivot[-seq_len(ranked$rank)])
  fit$aliased <- if (is.null(colnames(x))) paste0("x", at - fit$settings$bias) else colnames(x)[at]
  message(aliased_words(fit$aliased))
  fit
}

aliased_words <- function(columns) {
  paste0("Aliased: ", some_of(columns), if (length(columns) == 1) " is a combination" else " are combinations", " of other columns; the data ",
         "determine only sums of their coefficients, and the prior the rest")
}
