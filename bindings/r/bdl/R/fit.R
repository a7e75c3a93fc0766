# One fit: handles are made, trained, and kept as a checkpoint too, from which they are made again after readRDS().

fit_bdl <- function(x, y, family, settings, seed, control, verbose) {
  family <- family_name(family, y)
  likelihood <- likelihood_name(family, settings$noise, settings$hidden)
  response <- encode_response(y, family)
  if (nrow(response$y) != nrow(x)) {
    refuse("x has ", nrow(x), " rows, y has ", nrow(response$y), call = sys.call(-1))
  }
  settings <- complete_settings(settings, family, nrow(x), ncol(x), response$outputs)
  seeds <- if (is.null(seed)) c(drawn_seed(), drawn_seed()) else c(seed, 1)
  outputs <- response$outputs * (if (likelihood == "heteroscedastic") 2 else 1)
  model <- bdl_model(c(ncol(x), settings$hidden, outputs), settings$activation, likelihood, settings$bias)
  if (settings$standardize) standardize_model(model, x, response$y, family, settings$bias, settings$prior)
  if (family == "gaussian" && response$outputs > 1) start_noise(model, response$y, settings, control)
  posterior <- posterior_for(model, settings$rank)
  if (is.null(settings$method)) settings$method <- bdl_method_suggest(model, posterior, 0)
  optimizer <- bdl_optimizer_create(model, posterior, settings$method, nrow(x))
  bdl_set_options(optimizer, threads = 2, seed = seeds[1])
  if (!length(settings$hidden)) do.call(bdl_set_options, c(list(optimizer), linear_options))
  do.call(bdl_set_options, c(list(optimizer), control))
  if (!is.null(settings$prior)) bdl_set_prior(optimizer, settings$prior)
  history <- train(optimizer, x, response$y, settings$epochs, verbose)
  diagnosis <- bdl_optimizer_diagnose(optimizer)
  if (nzchar(diagnosis$message)) warn_of(diagnosis$message)
  response$y <- with_names(response$y, rownames(x), response$names)
  structure(class = "bdl", list(
    family = family, settings = settings, seed = seeds[1], prediction_seed = seeds[2], x = x,
    response = response, parameters = bdl_model_parameters(model), history = history,
    prior = rle(drop(bdl_optimizer_get_prior(optimizer, c(1, bdl_model_parameters(model))))),
    diagnosis = diagnosis, checkpoint = checkpoint_bytes(optimizer),
    handles = list2env(list(model = model, posterior = posterior), parent = emptyenv())
  ))
}

with_names <- function(y, rows, cols) {
  if (!is.null(rows) || !is.null(cols)) dimnames(y) <- list(rows, cols)
  y
}

# What the caller left open, but the method of networks, which the library suggests. The best posterior of a generalised linear model with one output is found exactly, where a
# copy of the data in double and a full covariance, which that takes, cost little; steps cost more of the latter.
complete_settings <- function(settings, family, examples, inputs, outputs) {
  is_linear <- length(settings$hidden) == 0
  size <- outputs * (inputs + settings$bias)
  if (is.null(settings$method) && is_linear) {
    is_small <- size <= 1000 && examples * inputs <= 2^25 && (is.null(settings$rank) || identical(settings$rank, "full"))
    settings$method <-
      if (outputs > 1) "slang-ggn" else if (is_small) "exact-full" else "slang-exact-hess"
  }
  if (is.null(settings$rank)) {
    settings$rank <- if (!is_linear) 5 else if (size <= 200) "full" else 10
    family <- if (is.null(settings$method)) "any" else bdl_method_describe(settings$method)$family
    if (family == "low_rank") settings$rank <- min(if (is_linear) 10 else 5, size)
    if (family == "diagonal") settings$rank <- 0
    if (family == "full") settings$rank <- "full"
  }
  settings
}

# A standard normal prior of standardised coefficients, hardly any of intercepts.
linear_options <- list(learn_prior = 0, learn_noise = 1, bias_prior_precision = 1e-4)

posterior_for <- function(model, rank) {
  if (identical(rank, "full")) return(bdl_posterior(model, family = "full"))
  if (identical(rank, "layerwise_full")) return(bdl_posterior(model, family = "layerwise_full"))
  if (identical(rank, "diagonal")) rank <- 0
  if (!is_count(rank)) refuse('rank must be a number, "full", "layerwise_full" or "diagonal"', call = sys.call(-2))
  bdl_posterior(model, rank)
}

# Without an intercept nothing may be shifted, or the standardisation would be one. Where the prior is another fit's
# posterior, parameters mean the same in both.
standardize_model <- function(model, x, y, family, bias, prior) {
  if (inherits(prior, "bdl")) return(standardize_as(model, handles_of(prior)$model))
  is_gaussian <- family == "gaussian"
  if (bias) return(bdl_model_standardize(model, x, if (is_gaussian) y))
  size <- function(v) {
    rms <- sqrt(colMeans(v^2))
    ifelse(rms > 0, rms, 1)
  }
  bdl_model_set_standardization(model, NULL, size(x), NULL, if (is_gaussian) size(y))
}

standardize_as <- function(model, other) {
  inputs <- c(1, bdl_model_inputs(other))
  heteroscedastic <- bdl_model_likelihood(other) == BDL_HETEROSCEDASTIC
  targets <- c(1, if (heteroscedastic) bdl_model_targets(other) else bdl_model_outputs(other))
  of <- bdl_model_get_standardization(other, inputs, inputs, targets, targets)
  plain <- all(of$target_mean == 0) && all(of$target_scale == 1)
  bdl_model_set_standardization(model, of$input_mean, of$input_scale, if (!plain) of$target_mean,
                                if (!plain) of$target_scale)
}

# Several responses have a noise each, to be learned from where the library would start a shared one.
start_noise <- function(model, y, settings, control) {
  factor <- if (is.null(control$initial_noise_precision)) 0 else control$initial_noise_precision
  learns <- length(settings$hidden) > 0 && !identical(as.numeric(control$learn_noise), 0)
  if (factor == 0) factor <- if (learns) 100 else 1
  variance <- colMeans(sweep(y, 2, colMeans(y))^2)
  bdl_model_set_noise_precision(model, factor / ifelse(variance > 0, variance, 1))
}

# Fits, and returns the course of the ELBO's two parts.
train <- function(optimizer, x, y, epochs, verbose) {
  rows <- list()
  if (verbose) {
    bar <- utils::txtProgressBar(max = max(epochs, 1), style = 3)
    on.exit(close(bar))
  }
  bdl_optimizer_fit(optimizer, x, y, epochs, function(optimizer) {
    epoch <- bdl_optimizer_progress(optimizer)$epoch
    parts <- bdl_optimizer_running_elbo(optimizer, TRUE)
    rows[[length(rows) + 1]] <<- c(epoch, parts$expected_log_likelihood, parts$kl)
    if (verbose) utils::setTxtProgressBar(bar, epoch)
  })
  names <- c("epoch", "expected_log_likelihood", "kl")
  history <- as.data.frame(matrix(unlist(rows), ncol = 3, byrow = TRUE, dimnames = list(NULL, names)))
  history$elbo <- history$expected_log_likelihood - history$kl
  history
}

# Model and posterior of a fit; made again where they come from a saved session.
handles_of <- function(object) {
  handles <- object$handles
  if (!bdl_is_open(handles$model) || !bdl_is_open(handles$posterior)) {
    parts <- bdl_load_bytes(object$checkpoint, NULL, TRUE, TRUE, FALSE)
    handles$model <- parts$model
    handles$posterior <- parts$posterior
  }
  handles
}

# Handles of their own: training them on leaves the fit as it is.
bdl_handles <- function(object) bdl_load_bytes(object$checkpoint, NULL, TRUE, TRUE, TRUE)
