# Normal priors by the names of coefficients, or of layers and predictors of networks.

normal <- function(location = 0, scale = 1) {
  if (!is.numeric(location) || !all(is.finite(location))) refuse("location must be finite numbers")
  if (!is.numeric(scale) || any(scale <= 0, na.rm = TRUE)) {
    refuse("scale must be positive numbers: it is a standard deviation, Inf for a flat prior, NA for the default")
  }
  structure(list(dist = "normal", location = location, scale = scale), class = "bdl_normal")
}

format.bdl_normal <- function(x, ...) {
  numbers <- function(v) if (length(v) == 1) format(v) else paste0("c(", paste(vapply(v, format, ""), collapse = ", "), ")")
  paste0("normal(", numbers(x$location), ", ", numbers(x$scale), ")")
}

print.bdl_normal <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# One prior; those of rstanarm's normal() have the same parts.
is_one_normal <- function(prior) is.list(prior) && identical(prior$dist, "normal") && !is.null(prior$scale)

# A normal prior, or several by name: a list, or a data frame with the columns term, location and scale.
is_normal_prior <- function(prior) {
  is.list(prior) && !inherits(prior, c("bdl", "bdl_posterior")) && !is.environment(prior)
}

# A list of priors by name; one without a name is for all.
normals_of <- function(prior) {
  if (is_one_normal(prior)) return(list(prior))
  if (is.data.frame(prior)) {
    lacking <- setdiff(c("location", "scale"), names(prior))
    if (length(lacking)) refuse("prior is a data frame without the column ", some_of(lacking), call = NULL)
    terms <- if (is.null(prior$term)) rownames(prior) else as.character(prior$term)
    each <- lapply(seq_len(nrow(prior)), function(i) normal(prior$location[i], prior$scale[i]))
    return(stats::setNames(each, terms))
  }
  if (is.null(names(prior)) || !all(nzchar(names(prior)))) {
    refuse("prior is a list without names: name each prior as its coefficient, \"(Intercept)\" or a predictor's", call = NULL)
  }
  odd <- names(prior)[!vapply(prior, is_one_normal, NA)]
  if (length(odd)) refuse("prior ", some_of(odd), " is not normal(location, scale)", call = NULL)
  prior
}

# Sets the priors of the coefficients of a linear model, or of a network's parameters, with these predictors.
give_normals <- function(optimizer, model, prior, inputs, outputs, bias) {
  count <- bdl_model_coefficient_count(model, -1)
  places <- if (count > 0) coefficient_places(inputs, outputs, bias) else parameter_places(model, inputs)
  size <- if (count > 0) count else bdl_model_parameters(model)
  location <- numeric(size)
  scale <- rep(NaN, size)
  all <- normals_of(prior)
  for (i in seq_along(all)) {
    name <- names(all)[i]
    one <- all[[i]]
    if (isTRUE(one$autoscale)) refuse("autoscale is not supported: the prior is in the units of the data as it is", call = NULL)
    place <- if (is.null(name)) places$all else named_place(places$named, name)
    location[place] <- prior_numbers(one$location, place, name)
    scale[place] <- prior_numbers(one$scale, place, name)
  }
  scale[is.na(scale)] <- NaN
  if (count > 0) {
    bdl_optimizer_set_prior_coefficients(optimizer, t(location), t(scale))
  } else {
    bdl_optimizer_set_prior_normal(optimizer, t(location), t(scale))
  }
  invisible(optimizer)
}

# Vectors have one number for each predictor, for all outputs alike.
prior_numbers <- function(value, place, name) {
  each <- if (is.null(name)) attr(place, "each") else 1
  if (length(value) == 1) return(value)
  if (is.null(each) || length(value) != each) {
    refuse("prior", if (!is.null(name)) paste0(" \"", name, "\""), " has ", length(value), " numbers, expected 1",
           if (is.null(name) && !is.null(each)) paste0(" or ", each), call = NULL)
  }
  rep(value, length.out = length(place))
}

named_place <- function(places, name) {
  if (!is.null(places[[name]])) return(places[[name]])
  distance <- drop(utils::adist(name, names(places), ignore.case = TRUE))
  near <- which.min(distance)
  if (length(near) && distance[near] <= max(1, nchar(name) / 3)) {
    refuse("prior has the name \"", name, "\", which is unknown: did you mean \"", names(places)[near], "\"?", call = NULL)
  }
  refuse("prior has the name \"", name, "\", expected one of ", some_of(names(places)), call = NULL)
}

# Where coefficients are: for each output the intercept, then the slopes. The prior of all is that of slopes.
coefficient_places <- function(inputs, outputs, bias) {
  names <- c(if (bias) "(Intercept)", inputs)
  count <- max(1, length(outputs))
  first <- (seq_len(count) - 1) * length(names)
  named <- stats::setNames(lapply(seq_along(names), function(j) first + j), names)
  if (count > 1) {
    single <- as.list(seq_len(count * length(names)))
    named <- c(named, stats::setNames(single, paste0(rep(outputs, each = length(names)), ":", names)))
  }
  slopes <- as.vector(outer(seq_along(inputs) + bias, first, `+`))
  list(all = structure(slopes, each = length(inputs)), named = named)
}

# Where parameters are: those of layers and of their parts, and the weights that read a predictor.
parameter_places <- function(model, inputs) {
  blocks <- bdl_blocks(model)
  numbers <- lapply(seq_len(nrow(blocks)), function(b) blocks$offset[b] + seq_len(blocks$rows[b] * blocks$cols[b]))
  layers <- sub("[.].*", "", blocks$name)
  named <- c(lapply(split(numbers, factor(layers, unique(layers))), unlist), stats::setNames(numbers, blocks$name))
  if (blocks$cols[1] == length(inputs)) {
    by_row <- matrix(numbers[[1]], blocks$rows[1], blocks$cols[1], byrow = TRUE)
    named <- c(named, stats::setNames(lapply(seq_along(inputs), function(j) by_row[, j]), inputs))
  }
  list(all = unlist(numbers[!grepl("bias", blocks$name)]), named = named)
}

# The normal priors of coefficients in the units of the data; NULL where the prior is a posterior.
prior_of_coefficients <- function(optimizer, model) {
  count <- bdl_model_coefficient_count(model, -1)
  if (count == 0) return(NULL)
  tryCatch(lapply(bdl_optimizer_get_prior_coefficients(optimizer, c(1, count), c(1, count)), drop),
           bdl_error_unsupported = function(e) NULL)
}
