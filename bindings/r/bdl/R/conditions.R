# Errors are conditions of three classes: for example "bdl_error_shape", "bdl_error" and "error". Warnings are of two.

raise <- function(status, message) {
  name <- tolower(sub("^BDL_(ERROR_)?", "", bdl_status_name(status)))
  stop(structure(
    class = c(paste0("bdl_error_", name), "bdl_error", "error", "condition"),
    list(message = message, call = sys.call(-1))
  ))
}

# For arguments that this package judges itself: the call is that of the function that the user called.
refuse <- function(..., call = sys.call(-1)) {
  stop(structure(
    class = c("bdl_error_invalid_argument", "bdl_error", "error", "condition"),
    list(message = paste0(...), call = call)
  ))
}

# What is wrong with a fit: of class "bdl_warning".
warn_of <- function(message) {
  warning(structure(class = c("bdl_warning", "warning", "condition"), list(message = message, call = NULL)))
}
