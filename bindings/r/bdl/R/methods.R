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

summary.bdl <- function(object, level = 0.95, ...) {
  table <- NULL
  if (is_linear(object)) {
    mean <- coef(object)
    sd <- sqrt(diag(covariance_of(object)))
    table <- cbind(Estimate = mean, `Std. Dev.` = sd, limits_of(object, level = level), `P(> 0)` = stats::pnorm(mean / sd))
  }
  structure(class = "summary.bdl", list(
    call = object$call, headline = headline(object), coefficients = table, aliased = object$aliased,
    elbo = unlist(object$history[nrow(object$history), -1]), noise = noise_sd(object),
    degrees_of_freedom = degrees_of_freedom(object), log_lik = if (is.null(object$rows) && is.null(object$members)) logLik(object), prior = prior_table(object),
    diagnosis = object$diagnosis$message, point = if (is_point(object)) no_covariance(object)
  ))
}

# Prior precisions of the blocks of parameters.
prior_table <- function(object) {
  blocks <- bdl_blocks(handles_of(object)$model)
  data.frame(block = blocks$name, precision = inverse.rle(object$prior)[blocks$offset + 1])
}

print.summary.bdl <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat("\nCall:\n", paste(deparse(x$call), collapse = "\n"), "\n\n", x$headline, "\n\n", sep = "")
  if (!is.null(x$coefficients)) {
    cat("Coefficients (posterior means, standard deviations, limits, probability of being positive):\n")
    table <- x$coefficients
    table[, "P(> 0)"] <- round(table[, "P(> 0)"], 3)
    print(table, digits = digits)
    if (!is.null(x$point)) cat("NaN: ", x$point, "\n", sep = "")
    if (!is.null(x$aliased)) cat(strwrap(aliased_words(x$aliased)), sep = "\n")
    cat("\n")
  }
  show_elbo(x$elbo, x$diagnosis)
  if (!is.null(x$log_lik)) {
    cat(sprintf("Log likelihood at the posterior mean %.5g (%.4g effective parameters)\n", x$log_lik,
                attr(x$log_lik, "df")))
  }
  if (!is.null(x$noise)) cat("Noise standard deviation:", format(x$noise, digits = digits), "\n")
  if (!is.null(x$degrees_of_freedom)) {
    cat("Degrees of freedom of the noise:", format(x$degrees_of_freedom, digits = digits), "\n")
  }
  cat("Prior precision:", paste0(x$prior$block, " ", format(x$prior$precision, digits = digits), collapse = ", "), "\n")
  invisible(x)
}

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
  if (object$family == "categorical") y <- diag(object$response$outputs)[y + 1, , drop = FALSE]
  fitted <- predict_rows(object, object$x, "response", type == "pearson", NULL, NULL, prediction_method(object),
                         object$settings$samples, object$prediction_seed)
  result <- drop(y) - (if (type == "pearson") fitted$fit else fitted)
  weights <- if (is.null(object$response$weights)) 1 else object$response$weights
  if (type == "pearson") result <- result / sqrt(fitted$se.fit^2 + fitted$noise^2 / weights)
  stats::naresid(object$na.action, result)
}

# At the posterior mean. The degrees of freedom are the effective number of parameters (MacKay 1992), and one for each
# noise variance that was learned.
logLik.bdl <- function(object, ...) {
  kept(one_posterior(object, "logLik()"))
  handles <- handles_of(object)
  parameters <- mean(handles$posterior)
  values <- bdl_model_log_likelihood(handles$model, parameters, object$x, library_response(object$response), c(nrow(object$x), 1))
  effective <- effective_parameters(object, handles)
  noise <- switch(likelihood_name(object$family, object$settings),
                  gaussian = length(unique(noise_sd(object))), heteroscedastic = object$response$outputs,
                  student_t = object$response$outputs + 1, 0)
  structure(sum(values), df = effective + noise, nobs = nobs(object), class = "logLik")
}

# sum_j 1 - lambda_j Sigma_jj with the prior precisions lambda; of a network the sum of the leverages of its rows, since
# without the correlations of parameters the former may exceed the number of rows.
effective_parameters <- function(object, handles) {
  if (is_point(object)) return(object$parameters)
  if (!is_linear(object) && !identical(object$settings$rank, "dropout")) {
    leverages <- leverages_of(object, object$x)
    return(object$response$outputs * sum(1 - leverages[, "leverage"] / leverages[, "left_out"]))
  }
  variance <- bdl_posterior_marginal_variance(handles$posterior, c(1, object$parameters))
  sum(1 - inverse.rle(object$prior) * drop(variance))
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
  trials <- if (is.null(newdata) && object$family == "bernoulli") object$response$weights
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
