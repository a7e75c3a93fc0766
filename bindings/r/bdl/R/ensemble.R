# Deep ensembles: fits of the same data, each with another seed, that predict together.

bdl_ensemble <- function(...) {
  members <- list(...)
  if (length(members) == 1 && !inherits(members[[1]], "bdl")) members <- members[[1]]
  if (!is.list(members) || length(members) == 0 || !all(vapply(members, inherits, NA, "bdl")))
    refuse("members must be one or more fits of bdl()")
  lapply(members, one_posterior, "a member")
  same <- function(part) all(vapply(members, function(m) identical(part(m), part(members[[1]])), NA))
  if (!same(function(m) m$family) || !same(function(m) m$response$levels))
    refuse("members differ in their family or levels")
  structure(list(members = members), class = "bdl_ensemble")
}

# As of the first member, but of the equal mixture of all.
predict.bdl_ensemble <- function(object, ...) {
  first <- object$members[[1]]
  first$members <- object$members
  stats::predict(first, ...)
}

print.bdl_ensemble <- function(x, ...) {
  cat("Deep ensemble of", length(x$members), "members, the first:\n")
  print(x$members[[1]], ...)
  invisible(x)
}
