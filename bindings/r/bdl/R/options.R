# Methods and options of optimizers, as the library lists them.

bdl_methods <- function() {
  names <- character()
  while (!is.null(name <- bdl_method_name(length(names)))) names <- c(names, name)
  names
}

option_table <- local({
  table <- NULL
  function() {
    if (is.null(table)) table <<- read_option_table()
    table
  }
})

read_option_table <- function() {
  rows <- list()
  repeat {
    row <- tryCatch(bdl_option_describe(length(rows)), bdl_error_invalid_argument = function(e) NULL)
    if (is.null(row)) break
    rows[[length(rows) + 1]] <- as.data.frame(row)
  }
  table <- do.call(rbind, rows)
  table$type <- c("double", "int", "choice")[table$type]
  names(table)[names(table) == "default_value"] <- "default"
  table
}

bdl_options <- function(optimizer = NULL) {
  table <- option_table()
  if (is.null(optimizer)) return(table)
  values <- lapply(table$name, function(name) get_option(optimizer, name))
  names(values) <- table$name
  values
}

get_option <- function(optimizer, name) {
  switch(option_type(optimizer, name),
    double = bdl_optimizer_get_double(optimizer, name),
    int = bdl_optimizer_get_int(optimizer, name),
    choice = bdl_optimizer_get_choice(optimizer, name)
  )
}

set_option <- function(optimizer, name, value) {
  switch(option_type(optimizer, name),
    double = bdl_optimizer_set_double(optimizer, name, value),
    int = bdl_optimizer_set_int(optimizer, name, value),
    choice = bdl_optimizer_set_choice(optimizer, name, value)
  )
}

# Names that the table lacks are for the library to refuse: it offers the nearest.
option_type <- function(optimizer, name) {
  table <- option_table()
  at <- match(name, table$name)
  if (is.na(at)) bdl_optimizer_get_double(optimizer, name)
  table$type[at]
}

bdl_set_options <- function(optimizer, ...) {
  values <- list(...)
  if (length(values) == 1 && is.list(values[[1]]) && is.null(names(values))) values <- values[[1]]
  if (length(values) && (is.null(names(values)) || any(names(values) == ""))) {
    refuse("options must be given as name = value")
  }
  for (name in names(values)) set_option(optimizer, name, values[[name]])
  invisible(optimizer)
}
