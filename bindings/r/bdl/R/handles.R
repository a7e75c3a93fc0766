# Functions of all handles. R's collector frees unused ones; close() frees one at once.

close.bdl_handle <- function(con, ...) invisible(bdl_handle_close(con))

bdl_is_open <- function(handle) bdl_handle_is_open(handle) == 1L

format.bdl_handle <- function(x, ...) {
  paste0("<", class(x)[1], if (!bdl_is_open(x)) ", closed", ">")
}

print.bdl_handle <- function(x, ...) {
  if (bdl_is_open(x)) cat(describe(x), sep = "\n") else cat(format(x), "\n", sep = "")
  invisible(x)
}

describe <- function(handle) UseMethod("describe")

describe.bdl_model <- function(handle) {
  activation <- bdl_model_activation(handle)
  what <- if (activation != 0) {
    paste("network,", word_of(activation, activations))
  } else {
    tryCatch({
      bdl_model_description(handle)
      "network"
    }, bdl_error_unsupported = function(error) "custom model")
  }
  sprintf("<bdl_model> %s, %s likelihood, %d inputs, %d outputs, %d parameters, %s", what,
          word_of(bdl_model_likelihood(handle), likelihoods), as.integer(bdl_model_inputs(handle)),
          as.integer(bdl_model_outputs(handle)), as.integer(bdl_model_parameters(handle)),
          word_of(bdl_model_dtype(handle), dtypes))
}

describe.bdl_posterior <- function(handle) {
  sprintf("<bdl_posterior> %s, rank %.0f, %.0f parameters, %s%s",
          word_of(bdl_posterior_family(handle), posterior_families), bdl_posterior_rank(handle),
          bdl_posterior_dimension(handle), word_of(bdl_posterior_dtype(handle), dtypes),
          if (bdl_posterior_is_blank(handle)) ", blank" else "")
}

describe.bdl_optimizer <- function(handle) {
  progress <- bdl_optimizer_progress(handle)
  sprintf("<bdl_optimizer> \"%s\", %.0f examples, %.0f steps, %.4g epochs", bdl_optimizer_method(handle),
          bdl_optimizer_data_size(handle), progress$step, progress$epoch)
}

describe.bdl_predictor <- function(handle) {
  facts <- attr(handle, "facts")
  sprintf("<bdl_predictor> %s, %.0f samples", facts$method, facts$samples)
}

describe.bdl_dataset <- function(handle) {
  sprintf("<bdl_dataset> %.0f rows, %.0f inputs, %.0f targets", bdl_dataset_rows(handle), bdl_dataset_inputs(handle),
          bdl_dataset_targets(handle))
}

describe.bdl_communicator <- function(handle) {
  place <- bdl_communicator_size(handle)
  sprintf("<bdl_communicator> rank %d of %d", place$rank, place$size)
}

describe.bdl_search <- function(handle) sprintf("<bdl_search> %.0f trials", bdl_search_trial_count(handle))
