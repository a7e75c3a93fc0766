# Searches of hyper-parameters.

bdl_search <- function(optimizer, ranges, folds = 5, epochs = bdl_default("epochs"), method = "monte_carlo",
                       samples = 100, seed = bdl_default("seed")) {
  if (!is.list(ranges) || !length(ranges) || is.null(names(ranges)) || any(names(ranges) == "")) {
    refuse("ranges must be list(name = c(low, high), ...), of choices list(name = c(\"word\", \"word\"))")
  }
  ranges <- lapply(ranges, words_of)
  search <- bdl_search_create(optimizer, folds, epochs, number_of(method, prediction_methods, "method"), samples,
                              seed)
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

bdl_tune <- function(search, x, y, random = 5, bayesian = 25, verbose = interactive()) {
  progress <- NULL
  if (verbose && random + bayesian > 0) {
    bar <- utils::txtProgressBar(max = random + bayesian, style = 3)
    on.exit(close(bar))
    before <- bdl_search_trial_count(search)
    progress <- function(search) utils::setTxtProgressBar(bar, bdl_search_trial_count(search) - before)
  }
  invisible(bdl_search_run(search, as_inputs(x), y, random, bayesian, progress))
}

as.data.frame.bdl_search <- function(x, row.names = NULL, optional = FALSE, ...) {
  ranges <- attr(x, "ranges")
  rows <- lapply(seq_len(bdl_search_trial_count(x)), function(i) {
    trial <- bdl_search_trial(x, i - 1, c(1, length(ranges)))
    values <- Map(function(value, range) if (is.character(range)) range[value + 1] else value,
                  as.list(trial$values), ranges)
    names(values) <- names(ranges)
    data.frame(values, score = trial$score, standard_error = trial$standard_error, message = trial$message,
               stringsAsFactors = FALSE)
  })
  do.call(rbind, rows)
}

bdl_apply_best <- function(search, optimizer, trial = NULL) {
  if (is.null(trial)) trial <- bdl_search_best(search) + 1
  bdl_search_apply(search, trial - 1, optimizer)
  invisible(optimizer)
}
