# Methods of all fitted models.

print.bdl <- function(x, ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(headline(x), "\n", sep = "")
  last <- x$history[nrow(x$history), ]
  show_elbo(last, x$diagnosis$message, sprintf(", after %.4g epoch%s", last$epoch, if (last$epoch == 1) "" else "s"))
  noise <- noise_sd(x)
  if (!is.null(noise)) cat("Noise standard deviation:", format(noise, digits = 4), "\n")
  invisible(x)
}

# An ELBO says something of a model only where training has converged.
show_elbo <- function(elbo, diagnosis, after = "") {
  cat(sprintf("ELBO %.5g (%s): expected log likelihood %.5g, KL %.5g%s\n", elbo[["elbo"]],
              if (nzchar(diagnosis)) "see the warning" else "converged", elbo[["expected_log_likelihood"]],
              elbo[["kl"]], after))
  if (nzchar(diagnosis)) cat("Warning:", diagnosis, "\n")
}

headline <- function(object) {
  hidden <- object$settings$hidden
  what <- if (!is.null(object$settings$network)) {
    paste("neural network of", network_words(object))
  } else if (length(hidden)) {
    paste0("neural network with ", paste(hidden, collapse = ", "), " hidden units (", object$settings$activation, ")")
  } else {
    "generalised linear model"
  }
  rank <- object$settings$rank
  posterior <- if (identical(rank, "dropout")) "dropout" else
    paste("covariance", if (is.character(rank)) rank else if (rank == 0) "diagonal" else paste("rank", rank))
  count <- object$parameters - isTRUE(object$settings$is_null)
  members <- if (!is.null(object$members)) sprintf(", the first of %d members", length(object$members)) else ""
  sprintf("Bayesian %s, %s likelihood, %.0f parameter%s\nMethod %s, posterior %s, %d examples%s", what,
          likelihood_name(object$family, object$settings), count, if (count == 1) "" else "s", object$settings$method, posterior, nobs(object), members)
}

# Standard deviation of the noise that training has learned; NULL for other likelihoods, and if it differs between examples.
noise_sd <- function(object) {
  if (object$family != "gaussian" || object$settings$noise != "gaussian") return(NULL)
  outputs <- object$response$outputs
  covariance <- bdl_model_get_noise_covariance(handles_of(object)$model, c(outputs, outputs))
  sqrt(diag(covariance))
}

# Degrees of freedom of Student-t noise; NULL for other noise.
degrees_of_freedom <- function(object) {
  if (object$family == "gaussian" && object$settings$noise == "student_t") {
    bdl_model_get_degrees_of_freedom(handles_of(object)$model)
  }
}

# What training has learned of the density besides the coefficients; NULL where there is nothing.
shape_of <- function(object) {
  model <- handles_of(object)$model
  if (object$family %in% c("negative_binomial", "gamma")) return(bdl_model_get_shape(model))
  if (object$family == "ordinal") cut_points(object)
}

# Cut points as polr() has them, in P(y <= k) = plogis(zeta_k - eta) with an eta that has no intercept.
cut_points <- function(object) {
  levels <- object$response$levels
  cuts <- drop(bdl_model_get_cut_points(handles_of(object)$model, c(1, length(levels) - 1)))
  if (is_linear(object) && object$settings$bias) cuts <- cuts - coef(object)[["(Intercept)"]]
  stats::setNames(cuts, paste(levels[-length(levels)], levels[-1], sep = "|"))
}

summary.bdl <- function(object, level = 0.95, base = NULL, ...) {
  table <- NULL
  if (is_linear(object)) {
    mean <- coef(object, base = base)
    sd <- sqrt(diag(covariance_of(object, base)))
    table <- cbind(Estimate = mean, `Std. Dev.` = sd, limits_of(object, level = level, base = base),
                   `P(> 0)` = stats::pt(mean / sd, coefficient_degrees(object, mean)))
  } else if (!is.null(base)) {
    base_class(object, base)
  }
  structure(class = "summary.bdl", list(
    call = object$call, headline = headline(object), coefficients = table, base = base,
    levels = if (object$family == "categorical") object$response$levels, aliased = object$aliased,
    elbo = unlist(object$history[nrow(object$history), -1]), noise = noise_sd(object),
    degrees_of_freedom = degrees_of_freedom(object), shape = if (object$family != "ordinal") shape_of(object),
    zeta = if (object$family == "ordinal") shape_of(object), log_lik = if (is.null(object$rows) && is.null(object$members)) logLik(object), prior = prior_table(object), coefficient_priors = coefficient_priors(object),
    diagnosis = object$diagnosis$message, point = if (is_point(object)) no_covariance(object)
  ))
}

# Prior precisions of the blocks of parameters.
prior_table <- function(object) {
  blocks <- bdl_blocks(handles_of(object)$model)
  data.frame(block = blocks$name, precision = inverse.rle(object$prior)[blocks$offset + 1])
}

# Normal priors of coefficients, in the units of the data.
coefficient_priors <- function(object) {
  prior <- object$normal_prior
  if (length(prior$scale) != length(coef(object))) return(NULL)  # of a fit before 0.4; or log noise has some, too
  data.frame(location = prior$location, scale = prior$scale, row.names = coefficient_names(object))
}

print.summary.bdl <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", x$headline, "\n\n", sep = "")
  if (!is.null(x$coefficients)) {
    cat("Coefficients (posterior means, standard deviations, limits, probability of being positive)", if (!is.null(x$base))
      paste0(", as contrasts with ", x$base), ":\n", sep = "")
    table <- x$coefficients
    table[, "P(> 0)"] <- round(table[, "P(> 0)"], 3)
    print(table, digits = digits)
    if (!is.null(x$point)) cat("NaN: ", x$point, "\n", sep = "")
    if (is.null(x$base) && !is.null(x$levels)) {
      cat('The common level of all classes is known from the prior alone: summary(fit, base = "', x$levels[1],
          '") has contrasts.\n', sep = "")
    }
    if (!is.null(x$aliased)) cat(strwrap(aliased_words(x$aliased)), sep = "\n")
    cat("\n")
  }
  show_elbo(x$elbo, x$diagnosis)
  if (!is.null(x$log_lik)) {
    effective <- attr(x$log_lik, "effective")
    cat(sprintf("Log likelihood at the posterior mean %.5g", x$log_lik),
        if (!is.na(effective)) sprintf(" (%.4g effective parameters)", effective), "\n", sep = "")
  }
  if (!is.null(x$noise)) cat("Noise standard deviation:", format(x$noise, digits = digits), "\n")
  if (!is.null(x$degrees_of_freedom)) {
    cat("Degrees of freedom of the noise:", format(x$degrees_of_freedom, digits = digits), "\n")
  }
  if (!is.null(x$shape)) cat("Shape:", format(x$shape, digits = digits), "\n")
  if (!is.null(x$zeta)) {
    cat("Cut points (zeta):\n")
    print(x$zeta, digits = digits)
  }
  if (!is.null(x$coefficient_priors)) {
    given <- paste0(rownames(x$coefficient_priors), " normal(", format_each(x$coefficient_priors$location), ", ",
                    format_each(x$coefficient_priors$scale), ")")
    more <- length(given) - 12
    cat("Priors:", paste(utils::head(given, 12), collapse = ", "), if (more > 0) paste0("and ", more, " more"), "\n")
    return(invisible(x))
  }
  cat("Prior precision:", paste0(x$prior$block, " ", format(x$prior$precision, digits = digits), collapse = ", "), "\n")
  invisible(x)
}

format_each <- function(values) vapply(values, format, "", digits = 4)

# The list that it is would become a matrix of lists.
as.matrix.bdl <- function(x, ...) refuse("a fit is not a matrix: use coef(), vcov() or predict()")

# As of glm(): rows of weight 0 do not count.
nobs.bdl <- function(object, ...) {
  if (!is.null(object$rows)) return(object$rows)
  if (is.null(object$response$weights)) nrow(object$response$y) else sum(object$response$weights > 0)
}

formula.bdl <- function(x, ...) if (!is.null(x$terms)) stats::formula(x$terms)

fitted.bdl <- function(object, ...) predict(object)

residuals.bdl <- function(object, type = c("response", "pearson"), ...) {
  type <- match.arg(type)
  y <- kept(object)$response$y
  if (object$family %in% choice_families) y <- diag(moment_columns(object))[y + 1, , drop = FALSE]
  fitted <- usual_predictions(object, object$x, "response", type == "pearson")
  result <- drop(y) - (if (type == "pearson") fitted$fit else fitted)
  weights <- if (is.null(object$response$weights)) 1 else object$response$weights
  if (type == "pearson") result <- result / sqrt(fitted$se.fit^2 + fitted$noise^2 / weights)
  stats::naresid(object$na.action, result)
}

# At the posterior mean. The degrees of freedom are the effective number of parameters (MacKay 1992), and one for each
# noise variance that was learned; or NA, with the reason.
logLik.bdl <- function(object, ...) {
  kept(one_posterior(object, "logLik()"))
  handles <- handles_of(object)
  parameters <- mean(handles$posterior)
  values <- bdl_model_log_likelihood(handles$model, parameters, object$x, library_response(object$response), c(nrow(object$x), 1))
  effective <- effective_parameters(object, handles)
  noise <- switch(likelihood_name(object$family, object$settings),
                  gaussian = length(unique(noise_sd(object))), heteroscedastic = object$response$outputs,
                  student_t = object$response$outputs + 1, negative_binomial = 1, gamma = 1,
                  ordinal = length(object$response$levels) - 1 - has_intercept(object), 0)
  reason <- attr(effective, "reason")
  if (!is_linear(object) && !is_point(object)) {
    reason <- paste("a network has several optima, so that no number of parameters makes its log likelihoods comparable:",
                    "compare models by bdl_loo() or bdl_waic()")
  }
  effective <- as.double(effective) + noise
  structure(sum(values), df = if (is.null(reason)) effective else NA_real_, nobs = nobs(object), effective = effective,
            reason = reason, class = "logLik")
}

# Whether the mean of the cut points belongs to an intercept, which counts among the parameters.
has_intercept <- function(object) !is_linear(object) || object$settings$bias

# sum_j 1 - lambda_j Sigma_jj with the prior precisions lambda: the number of directions in which the data, not the prior,
# determine the parameters, which is at most the number of values of the response. Of a network the sum of the leverages of
# its rows, since without the correlations of parameters the former may exceed that number. Where there is no such number
# it is NA, with the reason as an attribute.
effective_parameters <- function(object, handles) {
  unknown <- function(...) structure(NA_real_, reason = paste0(...))
  if (is_point(object)) return(unknown(no_covariance(object)))
  if (identical(object$settings$rank, "dropout")) return(unknown("a dropout posterior has no covariance with the prior to compare"))
  if (!is_linear(object)) {
    leverages <- leverages_of(object, object$x)
    return(min(object$response$outputs * sum(1 - leverages[, "leverage"] / leverages[, "left_out"]), length(object$response$y)))
  }
  variance <- bdl_posterior_marginal_variance(handles$posterior, c(1, object$parameters))
  effective <- sum(1 - prior_shares(object, drop(variance)))
  most <- min(object$parameters, length(object$response$y))
  if (effective >= 0 && effective <= most * (1 + 1e-6)) return(min(effective, most)) # but for rounding
  unknown("method \"", object$settings$method, "\" has learned variances that do not fit the prior (", format(effective, digits = 3),
          " effective parameters, at most ", most, " are possible): take the default method, or compare models by bdl_loo()")
}

# The parts of parameters that the prior determines, lambda_j Sigma_jj. A given prior of an intercept joins parameters, but
# coefficients are independent under it; one that is not given is that of centred inputs, which is a parameter.
prior_shares <- function(object, variance) {
  shares <- inverse.rle(object$prior) * variance
  scale <- object$normal_prior$scale
  if (!is_normal_prior(object$settings$prior) || length(scale) != length(shares)) return(shares)
  names <- coefficient_names(object)
  given <- names(normals_of(object$settings$prior))
  is_bias <- endsWith(names, "(Intercept)")
  is_centred <- is_bias & !(names %in% given | "(Intercept)" %in% given)
  of_biases <- utils::tail(shares, sum(is_bias))
  shares <- diag(as.matrix(covariance_of(object))) / scale^2
  shares[is_centred] <- of_biases[is_centred[is_bias]]
  shares
}

# The criteria need the degrees of freedom of logLik().
AIC.bdl <- function(object, ..., k = 2) {
  warn_of_df(list(object, ...))
  NextMethod()
}

BIC.bdl <- function(object, ...) {
  warn_of_df(list(object, ...))
  NextMethod()
}

warn_of_df <- function(fits) {
  for (fit in fits[vapply(fits, inherits, NA, "bdl")]) {
    reason <- attr(logLik(fit), "reason")
    if (!is.null(reason)) warn_of(paste0("NA: ", reason))
  }
}

# As of lm(): a data frame for one response, and the state of R's generator as attribute "seed".
simulate.bdl <- function(object, nsim = 1, seed = NULL, newdata = NULL, ...) {
  if (!exists(".Random.seed", envir = globalenv(), inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", envir = globalenv())
  state <- before
  if (!is.null(seed)) {
    set.seed(seed)
    state <- structure(seed, kind = as.list(RNGkind()))
    on.exit(assign(".Random.seed", before, envir = globalenv()))
  }
  members <- max(1, length(object$members))
  each <- ceiling(nsim / members)
  x <- inputs_of(object, newdata, stats::na.fail)
  trials <- if (is.null(newdata) && object$family %in% binary_families) object$response$weights
  draws <- if (is.null(trials)) draws_of(object, x, prediction_method(object, "draws"), each, drawn_seed()) else
    shares_of(object, x, trials, each)
  in_turn <- as.vector(t(matrix(seq_len(each * members), each)))[seq_len(nsim)]
  draws <- if (length(dim(draws)) == 3) draws[, , in_turn, drop = FALSE] else draws[, in_turn, drop = FALSE]
  if (is.null(newdata) && !is.null(object$na.action)) draws <- padded(draws, object$na.action)
  if (length(dim(draws)) == 3) return(structure(draws, seed = state))
  result <- as.data.frame(draws)
  names(result) <- paste0("sim_", seq_len(nsim))
  if (object$response$kind == "factor" && is.null(trials)) result[] <- lapply(result, as_factor_of, response = object$response)
  if (!is.null(trials) && !is.null(object$response$trials)) result[] <- lapply(result, as_trials, object = object)
  structure(result, seed = state)
}

# Draws of the shares of successes in as many trials as the rows have.
shares_of <- function(object, x, trials, samples) {
  if (any(trials != floor(trials))) refuse("weights are not whole numbers of trials, which simulate() draws", call = quote(simulate.bdl()))
  single <- object
  single$response <- utils::modifyList(object$response, list(kind = "numeric", levels = NULL, values = c(0, 1)))
  draws <- draws_of(single, x[rep(seq_along(trials), trials), , drop = FALSE], prediction_method(object, "draws"), samples, drawn_seed())
  shares <- matrix(0, length(trials), ncol(draws), dimnames = list(rownames(x), NULL))
  present <- trials > 0
  shares[present, ] <- rowsum(unname(draws), rep(seq_along(trials), trials)) / trials[present]
  shares
}

# Shares of successes as the two columns of the response.
as_trials <- function(share, object) {
  trials <- stats::naresid(object$na.action, object$response$weights)
  stats::setNames(as.data.frame(cbind(round(share * trials), trials - round(share * trials))), object$response$trials)
}
