# One fit: handles are made, trained, and kept as a checkpoint too, from which they are made again after readRDS().

# `declared`: levels of the response that need not occur.
fit_bdl <- function(x, y, family, settings, seed, control, verbose, declared = NULL, weights = NULL, offset = NULL) {
  check_response(y)
  if (rows_in(x) == 0) refuse("there are no rows", call = sys.call(-1))
  is_trials <- are_trials(family, y)
  family <- family_name(family, y)
  likelihood_name(family, settings)  # refuses a noise that does not suit
  response <- if (is_dataset(x)) dataset_response(x, family) else if (is_trials) {
    encode_trials(y, weights)
  } else {
    encode_response(y, family, declared, !is.null(weights))
  }
  if (!is_dataset(x)) {
    if (nrow(response$y) != nrow(x)) refuse("x has ", nrow(x), " rows, y has ", nrow(response$y), call = sys.call(-1))
    if (!is_trials) response$weights <- weights
    if (!is.null(offset)) response$offsets <- ncol(offset)
    x <- with_offsets(x, offset)
  }
  seeds <- if (is.null(seed)) c(drawn_seed(), drawn_seed()) else c(seed, 1)
  fit_members(x, response, family, list(settings = settings, control = control), seeds, verbose)
}

# One fit, or an ensemble of fits with the seeds seed, seed + 1, ...: the first one, which has all of them as its members.
fit_members <- function(x, response, family, asked, seeds, verbose) {
  count <- if (is.null(asked$settings$members)) 1 else asked$settings$members  # older fits have none
  if (!is_count(count) || count < 1) refuse("members must be a number of fits, 1 or more", call = sys.call(-2))
  is_linear <- is.null(asked$settings$network) && !length(asked$settings$hidden)
  if (count > 1 && is_linear) {
    refuse("a generalised linear model has one optimum for all seeds: members must be 1", call = sys.call(-2))
  }
  noise <- chosen_noise(x, response, family, asked)
  fits <- lapply(seq_len(count), function(j) {
    fit_learner(x, response, family, asked, noise, seeds + c(j - 1, 0), verbose)
  })
  fit <- fits[[1]]
  if (count > 1) fit$members <- fits
  fit
}

# Fails for an ensemble, which has several posteriors.
one_posterior <- function(object, what) {
  if (is.list(object) && !is.null(object$members)) {
    refuse(what, " is of one posterior, but the fit has ", length(object$members), " members: they are its part $members",
           kind = "unsupported", call = sys.call(-1))
  }
  object
}

# `asked`: settings and control as the caller has them; `noise`: the chosen one.
fit_learner <- function(x, response, family, asked, noise, seeds, verbose) {
  learner <- blank_learner(x, response, family, asked, noise, seeds[1])
  optimizer <- learner$optimizer
  settings <- learner$settings
  warn_of_baseline(settings$method)
  history <- train(optimizer, x, library_response(response), settings$epochs, !identical(settings$rank, "dropout"), verbose)
  diagnosis <- bdl_optimizer_diagnose(optimizer)
  if (!nzchar(diagnosis$message) && !is_dataset(x)) {
    diagnosis$message <- bdl_optimizer_diagnose_answers(optimizer, x, library_response(response))$message
  }
  if (nzchar(diagnosis$message)) warn_of(diagnosis$message)
  model <- learner$model
  name_model(model, x, response)
  rows <- if (is_dataset(x)) bdl_dataset_rows(x)
  all_x <- x
  if (is_dataset(x)) {  # a row of it says what there is
    first <- bdl_read_rows(x, 1)
    x <- first$x
    response$y <- first$y[, seq_len(ncol(first$y) - isTRUE(response$weighted)), drop = FALSE]
  }
  response$y <- with_names(response$y, rownames(x), response$names)
  fit <- structure(class = "bdl", list(
    family = family, settings = settings, seed = seeds[1], prediction_seed = seeds[2], x = x,
    response = response, parameters = bdl_model_parameters(model), history = history,
    prior = rle(drop(bdl_optimizer_get_prior(optimizer, c(1, bdl_model_parameters(model))))),
    normal_prior = prior_of_coefficients(optimizer, model), diagnosis = diagnosis, checkpoint = checkpoint_bytes(optimizer),
    asked = asked, rows = rows,
    handles = list2env(list(model = model, posterior = learner$posterior), parent = emptyenv())
  ))
  with_leverages(fit, all_x, response$weights)
}

# Whether training has found a point, a mean without a covariance.
is_point <- function(object) !bdl_posterior_has_covariance(handles_of(object)$posterior)

# Methods of which this session has said that they are baselines.
cautioned <- new.env(parent = emptyenv())

# The first fit by a baseline reports what it is for, and which condition of our test it missed.
warn_of_baseline <- function(method) {
  caution <- bdl_method_standing(method)$caution
  if (!nzchar(caution) || exists(method, cautioned)) return(invisible())
  assign(method, TRUE, cautioned)
  warn_of(caution)
}

# Handles that have learned nothing.
blank_learner <- function(x, response, family, asked, noise, seed, start_noise = TRUE) {
  settings <- asked$settings
  settings$noise <- noise
  model <- blank_model(x, response, settings, likelihood_name(family, settings))
  if (settings$standardize) standardize_model(model, x, response, family, settings$bias, settings$prior)
  options <- c(list(seed = seed)[!"seed" %in% names(asked$control)], asked$control)
  learner <- learner_for(model, rows_in(x), settings, options)
  if (is_normal_prior(settings$prior)) {
    give_normals(learner$optimizer, model, settings$prior, predictor_names(x), prior_outputs(response, family), settings$bias)
  } else if (!is.null(settings$prior)) {
    bdl_set_prior(learner$optimizer, settings$prior)
  }
  if (is_dataset(x)) {
    bdl_optimizer_start_noise_dataset(learner$optimizer, x)
  } else if (start_noise && offset_count(response) > 0) {
    bdl_optimizer_start_noise_dataset(learner$optimizer, bdl_dataset_from_arrays(x, library_response(response)))
  } else if (start_noise) {
    bdl_optimizer_start_noise(learner$optimizer, library_response(response))
  }
  c(list(model = model), learner)
}

predictor_names <- function(x) {
  if (is_dataset(x) || is.null(colnames(x))) paste0("x", seq_len(columns_in(x))) else colnames(x)
}

# Names of outputs, as coef() has them.
prior_outputs <- function(response, family) {
  if (response$outputs == 1) return(NULL)
  names <- output_names(list(response = response, family = family))
  if (is.null(names)) paste0("y", seq_len(response$outputs)) else names
}

blank_model <- function(x, response, settings, likelihood) {
  outputs <- response$outputs * (if (likelihood == "heteroscedastic") 2 else 1)
  inputs <- columns_in(x) - offset_count(response)
  model <- if (!is.null(settings$network)) network_model(settings, inputs, outputs, likelihood) else
    bdl_model(c(inputs, settings$hidden, outputs), settings$activation, likelihood, settings$bias)
  if (likelihood == "ordinal") bdl_model_set_levels(model, length(response$levels))
  set_rows_of(model, response)
}

# The noise that the library suggests where the caller has no wish, with a warning of the outlier that makes it Student's t.
# A whole network has the outputs of its means.
chosen_noise <- function(x, response, family, asked) {
  settings <- asked$settings
  if (settings$noise != "auto") return(settings$noise)
  if (family != "gaussian" || is_whole(settings$network)) return("gaussian")
  if ("heteroscedastic_from" %in% names(asked$control)) return("heteroscedastic") # it has no other meaning
  optimizer <- learner_for(blank_model(x, response, settings, "gaussian"), rows_in(x), settings, asked$control)$optimizer
  prior <- posterior_of(settings$prior)
  parameters <- if (inherits(prior, "bdl_posterior")) bdl_posterior_dimension(prior) else 0
  found <- bdl_noise_suggest(optimizer, 0, parameters, if (!is_dataset(x)) response_without_offsets(x, response))
  if (found$distance > 0) {
    warn_of(paste0("a target is ", format(found$distance, digits = 5), " robust standard deviations from the median, so the ",
                   "noise is Student's t, in which outliers count little: if the target is right, set ",
                   'noise = "heteroscedastic" or "gaussian"'))
  }
  word_of(found$noise, noises)
}

with_names <- function(y, rows, cols) {
  if (!is.null(rows) || !is.null(cols)) dimnames(y) <- list(rows, cols)
  y
}

# Posterior and optimizer as the library suggests them where the caller has no wish, and the settings completed.
learner_for <- function(model, rows, settings, options) {
  method <- if (is.null(settings$method)) "auto" else settings$method
  training <- bdl_training_suggest(model, rows, 0, method, family_of_rank(settings$rank, method))
  check_read(settings, training)
  posterior <- posterior_for(model, training, settings)
  settings$method <- training$suggested_method
  settings$rank <- switch(training$suggested_family, low_rank = bdl_posterior_rank(posterior), diagonal = 0,
                          training$suggested_family)
  optimizer <- bdl_optimizer_create(model, posterior, settings$method, rows)
  bdl_optimizer_set_text(optimizer, training$options)
  do.call(bdl_set_options, c(list(optimizer), options))
  list(optimizer = optimizer, posterior = posterior, settings = settings)
}

# Refuses settings that nothing reads, or says so.
check_read <- function(settings, training) {
  family <- training$suggested_family
  if (family != "dropout" && !identical(settings$dropout, bdl_default("hidden_rate"))) {
    refuse("dropout has the rates of rank = \"dropout\", but the posterior is ", family, kind = "unsupported", call = sys.call(-3))
  }
  usual <- bdl_default(if (is.null(settings$network)) "epochs" else "image_epochs")
  if (bdl_method_describe(training$suggested_method)$is_stream && settings$epochs != usual) {
    warn_of(paste0("epochs is ", settings$epochs, ", but method ", training$suggested_method,
                   " learns from each row once, whatever epochs is"))
  }
}

# The library's word for the family that `rank` asks for: of methods for low-rank covariances, such a one.
family_of_rank <- function(rank, method) {
  if (is.null(rank)) return("auto")
  if (is.character(rank) && length(rank) == 1) return(rank)
  if (!is_count(rank)) refuse('rank must be a number or the name of a family, as "full" or "diagonal"', call = sys.call(-2))
  families <- if (method != "auto") strsplit(bdl_method_describe(method)$families, " | ", fixed = TRUE)[[1]]
  moments <- intersect(c("layerwise_low_rank_moment", "low_rank_moment"), families)
  if (length(moments)) return(moments[1])
  if (rank == 0) "diagonal" else "low_rank"
}

posterior_for <- function(model, training, settings) {
  rank <- if (is.numeric(settings$rank)) settings$rank else training$rank
  switch(training$suggested_family,
    low_rank = , diagonal = bdl_posterior(model, rank),
    low_rank_moment = , layerwise_low_rank_moment = bdl_posterior(model, rank, training$suggested_family),
    dropout = bdl_posterior(model, family = "dropout", dropout = settings$dropout),
    bdl_posterior(model, family = training$suggested_family)
  )
}

# Without an intercept nothing may be shifted, or the standardisation would be one. Where the prior is another fit's
# posterior, parameters mean the same in both.
standardize_model <- function(model, x, response, family, bias, prior) {
  if (inherits(prior, "bdl")) return(standardize_as(model, handles_of(prior)$model))
  is_gaussian <- family == "gaussian"
  if (is_dataset(x)) return(bdl_model_standardize_dataset(model, x))
  if (bias) return(bdl_model_standardize(model, x, if (is_gaussian || !is.null(response$weights)) library_response(response)))
  weights <- if (is.null(response$weights)) rep(1, nrow(x)) else response$weights
  size <- function(v) {
    rms <- sqrt(colSums(weights * v^2) / sum(weights))
    ifelse(rms > 0, rms, 1)
  }
  y <- response_without_offsets(x, response)[, seq_len(response$outputs), drop = FALSE]
  bdl_model_set_standardization(model, NULL, size(x[, seq_len(bdl_model_inputs(model)), drop = FALSE]), NULL, if (is_gaussian) size(y))
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

# Trains, and returns the course of the ELBO's two parts; masks of dropout have no KL divergence. Methods for streams see each
# row once, in order.
train <- function(optimizer, x, y, epochs, has_kl, verbose) {
  row_of <- function(epoch, parts) c(epoch, parts$expected_log_likelihood, if (has_kl) parts$kl else NA)
  if (bdl_method_describe(bdl_optimizer_method(optimizer))$is_stream) {
    observe_all(optimizer, x, y)
    parts <- if (is_dataset(x)) {
      bdl_optimizer_elbo_dataset(optimizer, x, 100, 1, has_kl)
    } else {
      bdl_optimizer_elbo(optimizer, x, y, 100, 1, has_kl)
    }
    return(history_of(list(row_of(1, parts))))
  }
  rows <- list()
  if (verbose) {
    bar <- utils::txtProgressBar(max = max(epochs, 1), style = 3)
    on.exit(close(bar))
  }
  progress <- function(optimizer) {
    epoch <- bdl_optimizer_progress(optimizer)$epoch
    rows[[length(rows) + 1]] <<- row_of(epoch, bdl_optimizer_running_elbo(optimizer, has_kl))
    if (verbose) utils::setTxtProgressBar(bar, epoch)
  }
  if (is_dataset(x)) {
    bdl_optimizer_fit_dataset(optimizer, x, epochs, progress)
  } else {
    bdl_optimizer_fit(optimizer, x, y, epochs, progress)
  }
  history_of(rows)
}

# Observes all rows; of a data set, 4096 at a time are in memory.
observe_all <- function(optimizer, x, y) {
  if (!is_dataset(x)) return(bdl_observe(optimizer, x, y, score = FALSE))
  together <- 4096
  for (first in seq(1, rows_in(x), together)) {
    part <- bdl_read_rows(x, first:min(first + together - 1, rows_in(x)))
    bdl_observe(optimizer, part$x, part$y, score = FALSE)
  }
}

history_of <- function(rows) {
  names <- c("epoch", "expected_log_likelihood", "kl")
  history <- as.data.frame(matrix(unlist(rows), ncol = 3, byrow = TRUE, dimnames = list(NULL, names)))
  history$elbo <- history$expected_log_likelihood - ifelse(is.na(history$kl), 0, history$kl)
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
bdl_handles <- function(object) bdl_load_bytes(one_posterior(object, "bdl_handles()")$checkpoint, NULL, TRUE, TRUE, TRUE)

# Data in memory, or a data set.
is_dataset <- function(x) inherits(x, "bdl_dataset")
rows_in <- function(x) if (is_dataset(x)) bdl_dataset_rows(x) else nrow(x)
columns_in <- function(x) if (is_dataset(x)) bdl_dataset_inputs(x) else ncol(x)

# The fit, if it has its data.
kept <- function(object) {
  if (!is.null(object$rows)) refuse("the fit is of a data set, which it does not keep: newdata is needed", call = sys.call(-1))
  object
}
