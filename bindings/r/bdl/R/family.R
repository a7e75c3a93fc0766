# Families: which likelihood a response has.

family_name <- function(family, y) {
  if (is.null(family)) return(family_of_response(y))
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    family <- family_of_object(family, sys.call(-2))
  }
  if (identical(family, "binomial")) {
    family <- "bernoulli"
  }
  known <- setdiff(names(likelihoods), c("heteroscedastic", "student_t"))  # noises
  if (!is.character(family) || length(family) != 1 || !family %in% known) {
    refuse("family must be one of ", paste0('"', c(known, "binomial"), '"', collapse = ", "),
           ", or a family object", call = sys.call(-2))
  }
  family
}

# The word for a family object of R.
family_of_object <- function(family, call) {
  words <- c("gaussian(identity)" = "gaussian", "binomial(logit)" = "binomial", "binomial(probit)" = "probit",
             "binomial(cloglog)" = "cloglog", "poisson(log)" = "poisson", "Gamma(log)" = "gamma")
  asked <- paste0(family$family, "(", family$link, ")")
  if (asked %in% names(words)) return(words[[asked]])
  hint <- if (startsWith(family$family, "Negative Binomial")) '; family = "negative_binomial" learns theta' else ""
  refuse("family ", asked, " is not supported: ", paste(names(words), collapse = ", "), " are", hint, call = call)
}

# The library's word for a family with its noise; "auto" is the family's own until it is chosen. What summaries say of coefficients is of the mean alone, so a model whose
# noise has coefficients too needs hidden units.
likelihood_name <- function(family, settings) {
  noise <- settings$noise
  number_of(noise, noises, "noise", up = 3)
  if (noise %in% c("auto", "gaussian")) return(family)
  if (family != "gaussian") refuse('noise = "', noise, '" is for the gaussian family', call = sys.call(-2))
  if (is_linear(list(settings = settings))) refuse('noise = "', noise, '" needs hidden units', call = sys.call(-2))
  noise
}

# Whether a response has two columns of successes and failures, as those of the binomial family have.
are_trials <- function(family, y) {
  if (is.function(family)) family <- family()
  is_binomial <- (is.character(family) && all(family %in% c("binomial", binary_families[-1]))) ||
    (inherits(family, "family") && family$family == "binomial")
  is_binomial && length(dim(y)) == 2 && ncol(y) == 2
}

family_of_response <- function(y) {
  if (is.character(y)) y <- factor(y)
  if (is.factor(y)) return(if (nlevels(y) == 2) "bernoulli" else "categorical")
  if (is.logical(y)) "bernoulli" else "gaussian"
}
