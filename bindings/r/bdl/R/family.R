# Families: which likelihood a response has, and its values as the library takes them.

family_name <- function(family, y) {
  if (is.null(family)) return(family_of_response(y))
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    usual <- c(gaussian = "identity", binomial = "logit", poisson = "log")
    if (!family$family %in% names(usual) || family$link != usual[[family$family]]) {
      refuse("family ", family$family, "(", family$link, ") is not supported: gaussian(), binomial() and poisson() ",
             "are, with their usual links", call = sys.call(-2))
    }
    family <- family$family
  }
  if (identical(family, "binomial")) family <- "bernoulli"
  known <- setdiff(names(likelihoods), c("heteroscedastic", "student_t"))  # noises
  if (!is.character(family) || length(family) != 1 || !family %in% known) {
    refuse("family must be one of ", paste0('"', c(known, "binomial"), '"', collapse = ", "),
           ", or a family object", call = sys.call(-2))
  }
  family
}

# The library's word for a family with its noise. What summaries say of coefficients is of the mean alone, so a model whose
# noise has coefficients too needs hidden units.
likelihood_name <- function(family, settings) {
  noise <- settings$noise
  number_of(noise, noises, "noise", up = 3)
  if (noise == "gaussian") return(family)
  if (family != "gaussian") refuse('noise = "', noise, '" is for the gaussian family', call = sys.call(-2))
  if (is_linear(list(settings = settings))) refuse('noise = "', noise, '" needs hidden units', call = sys.call(-2))
  noise
}

family_of_response <- function(y) {
  if (is.character(y)) y <- factor(y)
  if (is.factor(y)) return(if (nlevels(y) == 2) "bernoulli" else "categorical")
  if (is.logical(y)) "bernoulli" else "gaussian"
}

# The response as a list: y for the library (a matrix), the number of outputs, and how to say it in R's terms.
encode_response <- function(y, family) {
  if (is.character(y)) y <- factor(y)
  if (is.factor(y)) return(encode_factor(y, family))
  if (is.data.frame(y)) y <- as.matrix(y)
  if (!is.numeric(y) && !is.logical(y)) {
    refuse("the response must be numeric, logical or a factor", call = sys.call(-2))
  }
  if (family == "categorical") return(encode_classes(y))
  kind <- if (is.logical(y)) "logical" else "numeric"
  names <- colnames(y)
  y <- matrix(as.double(y), nrow = NROW(y))
  list(y = y, outputs = ncol(y), kind = kind, names = names)
}

# Of a data set, where classes are numbers from 0.
dataset_response <- function(data, family) {
  targets <- bdl_dataset_targets(data)
  if (targets == 0) refuse("the data set has no response", call = sys.call(-2))
  response <- list(y = NULL, outputs = targets, kind = "numeric", names = NULL)
  if (family != "categorical" && !(family == "bernoulli" && targets == 1)) return(response)
  if (targets != 1) refuse("a categorical response must be one column", call = sys.call(-2))
  range <- unlist(bdl_dataset_target_range(data, c(1, 1), c(1, 1)))
  if (!range[1] %in% c(0, 1) || range[2] < 1 || range[2] %% 1 != 0) {
    refuse("classes of a data set are the numbers 0, 1, ..., its response lies between ", range[1], " and ", range[2],
           call = sys.call(-2))
  }
  if (family == "bernoulli") {
    if (range[2] > 1) refuse("a bernoulli response is 0 or 1, not ", range[2], call = sys.call(-2))
    return(response)
  }
  response$levels <- as.character(0:range[2])
  response$outputs <- range[[2]] + 1
  response
}

encode_factor <- function(y, family) {
  if (!family %in% c("bernoulli", "categorical")) {
    refuse("a factor cannot be the response of family ", family, call = sys.call(-3))
  }
  if (family == "bernoulli" && nlevels(y) != 2) {
    refuse("a bernoulli response must have two levels, not ", nlevels(y), call = sys.call(-3))
  }
  if (nlevels(y) < 2) refuse("the response has one level only", call = sys.call(-3))
  outputs <- if (family == "bernoulli") 1 else nlevels(y)
  list(y = matrix(as.double(y) - 1), outputs = outputs, kind = "factor", levels = levels(y))
}

encode_classes <- function(y) {
  if (NCOL(y) != 1) refuse("a categorical response must be one column", call = sys.call(-3))
  levels <- sort(unique(as.vector(y)))
  encoded <- encode_factor(factor(y, levels), "categorical")
  encoded$kind <- if (is.logical(y)) "logical" else "numeric"
  encoded
}

# Class numbers from 0, or 0 and 1, as values of the response.
decode <- function(object, classes) {
  response <- object$response
  if (!is.null(response$levels)) {
    labels <- factor(response$levels[classes + 1], response$levels)
    return(switch(response$kind, factor = labels, logical = labels == "TRUE",
                  numeric = as.numeric(as.character(labels))))
  }
  if (response$kind == "logical") classes == 1 else classes
}
