# Errors are conditions of three classes: for example "bdl_error_shape", "bdl_error" and "error". Warnings are of two.

raise <- function(status, message) {
  message <- sub("^bdl_\\w+: ", "", message)  # the C function; the condition has the call of the user
  name <- tolower(sub("^BDL_(ERROR_)?", "", bdl_status_name(status)))
  stop(structure(
    class = c(paste0("bdl_error_", name), "bdl_error", "error", "condition"),
    list(message = numbered_from_1(message), call = sys.call(-1))
  ))
}

# For arguments that this package judges itself: the call is that of the function that the user called.
refuse <- function(..., call = sys.call(-1), kind = "invalid_argument") {
  stop(structure(
    class = c(paste0("bdl_error_", kind), "bdl_error", "error", "condition"),
    list(message = paste0(...), call = call)
  ))
}

# A message of the library, which counts rows, columns and the like from 0 and says so, with R's numbers.
numbered_from_1 <- function(message) {
  if (!grepl(from_0, message, fixed = TRUE)) return(message)
  counted <- gregexpr("\\b(row|column|example|output|parameter|member|draw)s? [0-9]+( and [0-9]+)?", message)
  regmatches(message, counted) <- lapply(regmatches(message, counted), function(found) vapply(found, next_numbers, ""))
  gsub(from_0, "", message, fixed = TRUE)
}

from_0 <- " (counting from 0)"

next_numbers <- function(text) {
  digits <- gregexpr("[0-9]+", text)
  regmatches(text, digits) <- lapply(regmatches(text, digits), function(d) sprintf("%.0f", as.numeric(d) + 1))
  text
}

# The first of some words, for a message.
some_of <- function(words) {
  shown <- paste(utils::head(words, 8), collapse = ", ")
  if (length(words) > 8) paste0(shown, ", ... (", length(words), " in all)") else shown
}

# Warns about a fit, with class "bdl_warning".
warn_of <- function(message) {
  warning(structure(class = c("bdl_warning", "warning", "condition"), list(message = message, call = NULL)))
}
