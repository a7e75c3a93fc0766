# Searches of hyper-parameters.

bdl_search <- function(optimizer, ranges, folds = 5, epochs = bdl_default("epochs"), method = "monte_carlo",
                       samples = 100, seed = bdl_default("seed"), parallel_trials = 1) {
  if (!is.list(ranges) || !length(ranges) || is.null(names(ranges)) || any(names(ranges) == "")) {
    refuse("ranges must be list(name = c(low, high), ...), of choices list(name = c(\"word\", \"word\"))")
  }
  ranges <- lapply(ranges, words_of)
  new_search(optimizer, ranges, folds, epochs, number_of(method, prediction_methods, "method"), samples, seed,
             parallel_trials)
}

new_search <- function(optimizer, ranges, folds, epochs, method, samples, seed, parallel_trials = 1) {
  search <- bdl_search_create(optimizer, folds, epochs, method, samples, seed)
  bdl_search_set_parallel_trials(search, parallel_trials)
  for (name in names(ranges)) add_range(search, optimizer, name, ranges[[name]])
  attr(search, "ranges") <- ranges
  search
}

# Words may also be one string, "a | b", as the library has them.
words_of <- function(range) {
  if (is.character(range)) trimws(unlist(strsplit(range, "|", fixed = TRUE))) else range
}

# Ranges of positive reals are spread evenly in their logarithms, unless scale = "linear" is their attribute.
add_range <- function(search, optimizer, name, range) {
  type <- option_type(optimizer, name)
  if (type == "choice") return(bdl_search_add_choice(search, name, paste(range, collapse = " | ")))
  if (!is.numeric(range) || length(range) != 2) {
    refuse("the range of ", name, " must be c(low, high)", call = sys.call(-1))
  }
  word <- attr(range, "scale")
  if (is.null(word)) word <- if (type == "double" && isTRUE(all(range > 0))) "log" else "linear"
  scale <- number_of(word, scales, "scale", up = 3)
  if (type == "int") bdl_search_add_int(search, name, range[1], range[2], scale)
  else bdl_search_add_double(search, name, range[1], range[2], scale)
}

bdl_tune <- function(object, ...) UseMethod("bdl_tune")

bdl_tune.bdl_search <- function(object, x, y, random = 5, bayesian = 25, verbose = interactive(), workers = NULL, ...) {
  no_more(...)
  if (!is.null(workers)) bdl_search_set_workers(object, workers)
  progress <- NULL
  if (verbose && random + bayesian > 0) {
    bar <- utils::txtProgressBar(max = random + bayesian, style = 3)
    on.exit(close(bar))
    before <- bdl_search_trial_count(object)
    progress <- function(search) utils::setTxtProgressBar(bar, bdl_search_trial_count(object) - before)
  }
  invisible(bdl_search_run(object, as_inputs(x), y, random, bayesian, progress))
}

# A fit with the best values, and the trials.
bdl_tune.bdl <- function(object, ranges, random = 5, bayesian = 25, folds = 5, parallel_trials = 1, verbose = interactive(),
                         workers = NULL, ...) {
  no_more(...)
  if (!is.list(ranges) || !length(ranges)) refuse("ranges must be list(name = c(low, high), ...)")
  search <- search_of(object, ranges, folds, parallel_trials)
  bdl_tune(search, object$x, library_response(object$response), random, bayesian, verbose, workers)
  trials <- as.data.frame(search)
  best <- as.list(trials[bdl_search_best(search) + 1, names(ranges), drop = FALSE])
  asked <- object$asked
  asked$control <- utils::modifyList(as.list(asked$control), best)
  fit <- fit_members(object$x, object$response, object$family, asked, c(object$seed, object$prediction_seed), verbose)
  kept <- c("terms", "xlevels", "contrasts", "na.action", "call")
  fit[kept] <- object[kept]
  fit$call$control <- as.call(c(quote(list), asked$control))
  fit$trials <- trials
  fit
}

bdl_cross_validate <- function(object, folds = 5, workers = NULL) {
  search <- search_of(one_posterior(object, "cross-validation"), list(), folds, 1)
  if (!is.null(workers)) bdl_search_set_workers(search, workers)
  bdl_search_run(search, object$x, library_response(object$response), 1, 0, NULL)
  trial <- bdl_search_trial(search, bdl_search_best(search), NULL)
  c(score = trial$score, standard_error = trial$standard_error)
}

# A search from blank handles that are to be trained as the fit was.
search_of <- function(object, ranges, folds, parallel_trials) {
  if (!inherits(object, "bdl")) refuse("object must be a fit of bdl()", call = sys.call(-1))
  if (!is.null(object$rows)) refuse("a search takes arrays, the fit is of a data set", call = sys.call(-1))
  if (is.null(object$asked)) refuse("the fit was saved by an older version: fit it again", call = sys.call(-1))
  learner <- blank_learner(object$x, object$response, object$family, object$asked, object$settings$noise,
                           object$seed, !"initial_noise_precision" %in% names(ranges))
  new_search(learner$optimizer, lapply(ranges, words_of), folds, learner$settings$epochs, prediction_method(object),
             learner$settings$samples, object$seed, parallel_trials)
}

as.data.frame.bdl_search <- function(x, row.names = NULL, optional = FALSE, ...) {
  ranges <- attr(x, "ranges")
  rows <- lapply(seq_len(bdl_search_trial_count(x)), function(i) {
    trial <- bdl_search_trial(x, i - 1, c(1, length(ranges)))
    values <- Map(function(value, range) if (is.character(range)) range[value + 1] else value,
                  as.list(trial$values), ranges)
    names(values) <- names(ranges)
    data.frame(values, score = trial$score, standard_error = trial$standard_error, message = numbered_from_1(trial$message),
               stringsAsFactors = FALSE)
  })
  do.call(rbind, rows)
}

bdl_apply_best <- function(search, optimizer, trial = NULL) {
  if (is.null(trial)) trial <- bdl_search_best(search) + 1
  check_numbers(trial, bdl_search_trial_count(search), "trial")
  bdl_search_apply(search, trial - 1, optimizer)
  invisible(optimizer)
}
