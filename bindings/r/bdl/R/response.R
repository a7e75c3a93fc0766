# Responses: which are taken, their values as the library takes them, and back.

# Classes of objects that are numbers, truth values or labels and no more.
plain_classes <- c("factor", "ordered", "AsIs", "ts", "mts", "matrix", "array", "table", "data.frame", "tbl_df", "tbl",
                   "data.table", "integer64", "labelled", "haven_labelled", "vctrs_vctr", "units", "noquote", "double",
                   "integer", "numeric", "character", "logical")

check_response <- function(y) {
  strange <- setdiff(oldClass(y), plain_classes)
  if (length(strange) == 0) return(invisible())
  remedy <- if (inherits(y, "Surv")) "models of survival times are not supported" else
    "as.numeric() of it is for a regression, factor() of it for classes"
  refuse('the response is of class "', strange[1], '": ', remedy, call = sys.call(-2))
}

# The response as a list: y for the library (a matrix), the number of outputs, and how to say it in R's terms: `values` that it
# takes, of its own type, and the `levels` that these are called, of classes.
encode_response <- function(y, family, declared = NULL, has_weights = FALSE) {
  if (is.data.frame(y)) y <- as.matrix(y)
  if (inherits(y, "integer64")) y <- as.double(y)
  if (is.character(y) || is.factor(y)) {
    if (!family %in% class_families) {
      refuse(if (is.factor(y)) "a factor" else "text", " cannot be the response of family ", family, call = sys.call(-2))
    }
    return(encode_classes(y, family, declared))
  }
  if (!is.numeric(y) && !is.logical(y)) {
    refuse("the response must be numeric, logical, a factor or text", call = sys.call(-2))
  }
  if (family %in% choice_families) return(encode_classes(y, family))
  check_values(y, family, has_weights)
  kind <- if (is.logical(y)) "logical" else "numeric"
  values <- if (is.logical(y)) c(FALSE, TRUE) else if (is.integer(y)) 0:1 else c(0, 1)
  names <- colnames(y)
  y <- matrix(as.double(y), nrow = NROW(y))
  list(y = y, outputs = ncol(y), kind = kind, names = names, values = values)
}

# Successes and failures as shares of successes, with the numbers of trials as weights.
encode_trials <- function(y, weights) {
  names <- colnames(y)
  y <- as.matrix(y)
  if (!is.numeric(y)) refuse("successes and failures must be numbers", call = sys.call(-2))
  wrong <- which(!is.finite(y) | y < 0, arr.ind = TRUE)
  if (nrow(wrong)) {
    refuse("the response is ", format(y[wrong[1, , drop = FALSE]]), " in row ", wrong[1, 1], ": numbers of successes and failures are 0 or more",
           call = sys.call(-2), kind = "label")
  }
  trials <- unname(y[, 1] + y[, 2])
  if (all(trials == 0)) refuse("the response has no trials: all successes and failures are 0", call = sys.call(-2))
  share <- ifelse(trials > 0, y[, 1] / trials, 0)
  list(y = matrix(as.double(share)), outputs = 1, kind = "numeric", values = c(0, 1), trials = names,
       weights = as.double(trials) * (if (is.null(weights)) 1 else weights))
}

check_values <- function(y, family, has_weights = FALSE) {
  kind <- if (family %in% binary_families) "labels" else family
  wrong <- switch(kind, labels = if (has_weights) y < 0 | y > 1 else y != 0 & y != 1,
                  poisson = , negative_binomial = y < 0 | y != floor(y), gamma = y <= 0, FALSE) & is.finite(y)
  if (!any(wrong)) return(invisible())
  at <- which(wrong)[1]
  row <- (at - 1) %% NROW(y) + 1
  names <- if (is.matrix(y)) rownames(y) else names(y)
  takes <- switch(kind, gamma = "numbers above 0", poisson = , negative_binomial = "counts 0, 1, 2, ...",
                  paste("0 and 1, a row for each trial, a factor of two levels, cbind(successes, failures) of family binomial, or shares of",
                        "successes with the numbers of trials as weights"))
  refuse("the response is ", format(y[at], digits = 6), " in row ", if (is.null(names)) row else names[row],
         ": family ", family, " takes ", takes, call = sys.call(-3), kind = "label")
}

# Response of a data set, in which classes are numbers from 0.
dataset_response <- function(data, family) {
  rows <- attr(data, "rows_have")
  targets <- bdl_dataset_targets(data) - isTRUE(rows$weights)
  if (targets == 0) refuse("the data set has no response", call = sys.call(-2))
  response <- list(y = NULL, outputs = targets, kind = "numeric", names = NULL, weighted = isTRUE(rows$weights), offsets = rows$offsets)
  is_binary <- family %in% binary_families
  if (!family %in% choice_families && !(is_binary && targets == 1)) return(response)
  if (targets != 1) refuse("a response of classes must be one column", call = sys.call(-2))
  all <- c(1, bdl_dataset_targets(data))
  range <- vapply(bdl_dataset_target_range(data, all, all), `[`, 0, 1)
  if (is_binary && response$weighted && range[1] >= 0 && range[2] <= 1) return(response)
  if (!range[1] %in% c(0, 1) || range[2] < 1 || range[2] %% 1 != 0) {
    refuse("classes of a data set are the numbers 0, 1, ..., its response lies between ", range[1], " and ", range[2],
           call = sys.call(-2))
  }
  if (family %in% binary_families) {
    if (range[2] > 1) refuse("a ", family, " response is 0 or 1, not ", range[2], call = sys.call(-2))
    return(response)
  }
  response$levels <- as.character(0:range[2])
  if (family == "categorical") response$outputs <- range[[2]] + 1
  response
}

# `declared`: levels of a factor, of which those that occur are its levels now; predictions have them all.
encode_classes <- function(y, family, declared = NULL) {
  if (NCOL(y) != 1) refuse("a response of classes must be one column", call = sys.call(-3))
  values <- if (is.factor(y)) factor(levels(y), if (is.null(declared)) levels(y) else declared, ordered = is.ordered(y)) else
    sort(unique(as.vector(y)))
  if (length(values) < 2) refuse("the response has one level only", call = sys.call(-3))
  if (family %in% binary_families && length(values) != 2) {
    refuse("a ", family, " response must have two levels, not ", length(values), call = sys.call(-3))
  }
  check_are_classes(values, length(y), sys.call(-3))
  numbers <- if (is.factor(y)) as.integer(y) else match(as.vector(y), values)
  kind <- if (is.factor(y)) "factor" else if (is.logical(y)) "logical" else if (is.character(y)) "text" else "numeric"
  list(y = matrix(as.double(numbers) - 1), outputs = if (family == "categorical") length(values) else 1, kind = kind,
       levels = names_of(values), values = values)
}

# Numbers that differ beyond the 15 digits of as.character() are different classes.
names_of <- function(values) {
  names <- as.character(values)
  if (anyDuplicated(names)) sprintf("%.17g", values) else names
}

# Numbers to regress on have a class for nearly every row where they are taken as labels.
check_are_classes <- function(values, rows, call) {
  if (length(values) <= max(10, rows / 2)) return(invisible())
  many <- paste0(length(values), " different values in ", rows, " rows")
  if (is.numeric(values) && any(values %% 1 != 0, na.rm = TRUE)) {
    refuse("the response has real numbers, ", many, ', not classes: use family = "gaussian"', call = call, kind = "label")
  }
  if (!is.numeric(values) && !anyNA(suppressWarnings(as.numeric(as.character(values))))) {
    numbers <- if (is.factor(values)) "as.numeric(as.character())" else "as.numeric()"
    refuse("the response has texts of numbers, ", many, ", not classes: pass ", numbers, call = call, kind = "label")
  }
  warn_of(paste("the response has a class for nearly every row:", many))
}

# Class numbers from 0, or 0 and 1, as values of the response.
decode <- function(object, classes) {
  decoded <- values_of(object$response)[classes + 1]
  if (is.matrix(classes)) matrix(decoded, nrow(classes)) else decoded
}

# Those of data sets, and of fits by version 0.2, follow from the levels.
values_of <- function(response) {
  if (!is.null(response$values)) return(response$values)
  if (is.null(response$levels)) return(if (response$kind == "logical") c(FALSE, TRUE) else c(0, 1))
  switch(response$kind, factor = factor(response$levels, response$levels), logical = response$levels == "TRUE",
         numeric = as.numeric(response$levels))
}

# Labels in place of a factor's, with its levels.
as_factor_of <- function(response, labels) {
  values <- values_of(response)
  factor(labels, levels(values), ordered = is.ordered(values))
}
