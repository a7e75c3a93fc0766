# Methods and options of optimizers, as the library lists them.

bdl_methods <- function() vapply(seq_len(bdl_method_count()) - 1, bdl_method_name, "")

# Defaults of estimators, equal in every language.
default_values <- local({
  values <- NULL
  function() {
    if (is.null(values)) values <<- rows_of(bdl_default_count(), bdl_default_describe)
    values
  }
})

bdl_default <- function(name) {
  table <- default_values()
  table$value[number_of(name, stats::setNames(seq_len(nrow(table)), table$name), "name")]
}

rows_of <- function(count, describe) {
  do.call(rbind, lapply(seq_len(count) - 1, function(i) as.data.frame(describe(i))))
}

option_table <- local({
  table <- NULL
  function() {
    if (is.null(table)) table <<- read_option_table()
    table
  }
})

read_option_table <- function() {
  table <- rows_of(bdl_option_count(), bdl_option_describe)
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

# As the library reads it from text.
option_text <- function(optimizer, name, value) {
  type <- option_type(optimizer, name)
  if (length(value) != 1 || is.na(value)) refuse('option "', name, '" must be one value', call = quote(bdl_set_options()))
  if (type == "choice") return(paste0(name, "=", gsub("[[:space:]]", "_", value)))
  if (!is.numeric(value) && !is.logical(value)) refuse('option "', name, '" must be a number', call = quote(bdl_set_options()))
  whole <- type == "int" && value == floor(value) && abs(value) <= 2^53
  paste0(name, "=", if (whole) sprintf("%.0f", value) else sprintf("%.17g", value))
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
  texts <- Map(function(name, value) option_text(optimizer, name, value), names(values), values)
  bdl_optimizer_set_text(optimizer, paste(texts, collapse = " "))
  invisible(optimizer)
}
