# Data that need not lie in memory: rows by number.

bdl_dataset <- function(x, y = NULL, rows = NULL, inputs = NULL, targets = NULL) {
  if (!is.function(x)) return(bdl_dataset_from_arrays(as_inputs(x), y))
  if (is.null(rows)) refuse("rows must be given where x is a function: how many there are")
  first <- if (is.null(inputs) || is.null(targets)) x(1)
  columns <- function(given, part) if (is.null(given)) length(first[[part]]) else given
  bdl_dataset_from_callback(rows, columns(inputs, 1), columns(targets, 2), x)
}

bdl_dataset_npy <- function(x_path, y_path = NULL) {
  bdl_dataset_from_npy(file_name(x_path), file_name(y_path))
}

bdl_dataset_safetensors <- function(path, x_name = "x", y_name = "y") {
  bdl_dataset_from_safetensors(file_name(path), x_name, y_name)
}

# Rows count from 1.
bdl_read_rows <- function(dataset, rows) {
  n <- length(rows)
  check_numbers(rows, bdl_dataset_rows(dataset), "rows")
  targets <- bdl_dataset_targets(dataset)
  bdl_dataset_read(dataset, rows - 1, c(n, bdl_dataset_inputs(dataset)), if (targets > 0) c(n, targets))
}
