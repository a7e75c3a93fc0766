# Data that need not lie in memory: rows by number.

bdl_dataset <- function(x, y = NULL, rows = NULL, inputs = NULL, targets = NULL, row_weights = FALSE, offsets = 0) {
  if (!is.function(x)) return(rows_have(bdl_dataset_from_arrays(as_inputs(x), y), row_weights, offsets))
  if (is.null(rows)) refuse("rows must be given where x is a function: how many there are")
  first <- if (is.null(inputs) || is.null(targets)) x(1)
  columns <- function(given, part) if (is.null(given)) length(first[[part]]) else given
  rows_have(bdl_dataset_from_callback(rows, columns(inputs, 1), columns(targets, 2), x), row_weights, offsets)
}

bdl_dataset_npy <- function(x_path, y_path = NULL, row_weights = FALSE, offsets = 0) {
  rows_have(bdl_dataset_from_npy(file_name(x_path), file_name(y_path)), row_weights, offsets)
}

bdl_dataset_safetensors <- function(path, x_name = "x", y_name = "y", row_weights = FALSE, offsets = 0) {
  rows_have(bdl_dataset_from_safetensors(file_name(path), x_name, y_name), row_weights, offsets)
}

# What the last columns of a data set are, for fits of bdl().
rows_have <- function(dataset, row_weights, offsets) {
  if (!is_count(offsets) || offsets >= bdl_dataset_inputs(dataset)) {
    refuse("offsets must be a number of columns of x, fewer than all ", bdl_dataset_inputs(dataset), call = sys.call(-1))
  }
  if (isTRUE(row_weights) && bdl_dataset_targets(dataset) < 2) {
    refuse("with row_weights, y has weights in its last column, and targets in others", call = sys.call(-1))
  }
  attr(dataset, "rows_have") <- list(weights = isTRUE(row_weights), offsets = offsets)
  dataset
}

# Rows count from 1.
bdl_read_rows <- function(dataset, rows) {
  n <- length(rows)
  check_numbers(rows, bdl_dataset_rows(dataset), "rows")
  targets <- bdl_dataset_targets(dataset)
  bdl_dataset_read(dataset, rows - 1, c(n, bdl_dataset_inputs(dataset)), if (targets > 0) c(n, targets))
}
