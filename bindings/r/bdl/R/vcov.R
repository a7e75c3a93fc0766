# Covariances of parameters, of which only the blocks that are asked for are computed.

# posterior: a function that gives the handle. A row of the map, if there is one, is a named coefficient as a
# combination of parameters: list(index, weight). Without a posterior all is NaN.
new_vcov <- function(posterior, size, names = NULL, map = NULL) {
  structure(class = "bdl_vcov", list(posterior = posterior, size = size, names = names, map = map))
}

dim.bdl_vcov <- function(x) rep(as.integer(unclass(x)$size), 2)

dimnames.bdl_vcov <- function(x) {
  names <- unclass(x)$names
  if (!is.null(names)) list(names, names)
}

is.matrix.bdl_vcov <- function(x) TRUE
is.array.bdl_vcov <- function(x) TRUE
length.bdl_vcov <- function(x) prod(as.double(dim(x)))

`[.bdl_vcov` <- function(x, i, j, drop = TRUE) {
  if (nargs() - (if (missing(drop)) 0 else 1) == 2) return(elements(x, i))
  rows <- positions(x, if (missing(i)) TRUE else i)
  cols <- positions(x, if (missing(j)) TRUE else j)
  block <- covariance_block(x, rows, cols)
  names <- unclass(x)$names
  if (!is.null(names)) dimnames(block) <- list(names[rows], names[cols])
  if (drop) drop(block) else block
}

positions <- function(x, i) {
  v <- unclass(x)
  all <- stats::setNames(seq_len(v$size), v$names)
  at <- unname(all[i])
  if (anyNA(at)) stop("subscript out of bounds", call. = FALSE)
  at
}

# Elements by one index, as of a matrix; base::diag() asks for the diagonal like this.
elements <- function(x, i) {
  size <- unclass(x)$size
  if (is.matrix(i) && ncol(i) == 2) i <- (i[, 2] - 1) * size + i[, 1]
  if (!is.numeric(i) || anyNA(i) || any(i < 1 | i > size^2)) stop("subscript out of bounds", call. = FALSE)
  rows <- (i - 1) %% size + 1
  cols <- (i - 1) %/% size + 1
  if (identical(rows, cols)) return(variances(x)[rows])
  r <- unique(rows)
  c <- unique(cols)
  covariance_block(x, r, c)[cbind(match(rows, r), match(cols, c))]
}

variances <- function(x) {
  v <- unclass(x)
  if (is.null(v$posterior)) return(rep(NaN, v$size))
  if (!is.null(v$map)) return(vapply(seq_len(v$size), function(k) covariance_block(x, k, k)[1], 0))
  drop(bdl_posterior_marginal_variance(v$posterior(), c(1, v$size)))
}

covariance_block <- function(x, rows, cols) {
  v <- unclass(x)
  if (is.null(v$posterior)) return(matrix(NaN, length(rows), length(cols)))
  if (is.null(v$map)) return(parameter_block(v$posterior(), rows, cols))
  left <- combine(v$map[rows])
  right <- combine(v$map[cols])
  left$weights %*% parameter_block(v$posterior(), left$index, right$index) %*% t(right$weights)
}

parameter_block <- function(posterior, rows, cols) {
  if (!length(rows) || !length(cols)) return(matrix(0, length(rows), length(cols)))
  bdl_posterior_covariance(posterior, rows - 1, cols - 1, c(length(rows), length(cols)))
}

combine <- function(map) {
  index <- unique(unlist(lapply(map, `[[`, "index")))
  weights <- matrix(0, length(map), length(index))
  for (k in seq_along(map)) weights[k, match(map[[k]]$index, index)] <- map[[k]]$weight
  list(index = index, weights = weights)
}

as.matrix.bdl_vcov <- function(x, ...) x[, , drop = FALSE]

print.bdl_vcov <- function(x, ...) {
  size <- unclass(x)$size
  cat(sprintf("Covariance of %.0f parameters; as.matrix(), diag() and [i, j] compute what is asked for\n", size))
  shown <- seq_len(min(size, 5))
  print(x[shown, shown, drop = FALSE])
  invisible(x)
}
