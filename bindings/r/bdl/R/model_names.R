# Names of a model's inputs, targets and classes, which are saved with it for every language.

bdl_names <- function(model) {
  list(inputs = read_names(model, BDL_INPUT, bdl_model_inputs(model)),
       targets = read_names(model, BDL_TARGET, bdl_model_targets(model)),
       classes = read_classes(model))
}

# Those that are not given stay as they are; NULL takes them away.
bdl_set_names <- function(model, inputs, targets, classes) {
  if (!missing(inputs)) write_names(model, BDL_INPUT, bdl_model_inputs(model), inputs, "inputs")
  if (!missing(targets)) write_names(model, BDL_TARGET, bdl_model_targets(model), targets, "targets")
  if (!missing(classes)) write_classes(model, classes)
  invisible(model)
}

read_names <- function(model, what, count) {
  names <- vapply(seq_len(count), function(i) bdl_model_get_name(model, what, i - 1), "")
  if (any(nzchar(names))) names
}

write_names <- function(model, what, count, names, title) {
  names <- if (is.null(names)) rep("", count) else as.character(names)
  if (length(names) != count) refuse(title, " has ", length(names), " names, expected ", count, call = sys.call(-1))
  names[is.na(names)] <- ""
  for (i in seq_len(count)) bdl_model_set_name(model, what, i - 1, enc2utf8(names[i]))
}

class_count <- function(model) {
  outputs <- bdl_model_outputs(model)
  likelihood <- bdl_model_likelihood(model)
  if (likelihood == BDL_ORDINAL) return(bdl_model_level_count(model))
  if (likelihood == BDL_CATEGORICAL) outputs else if (likelihood %in% likelihoods[binary_families] && outputs == 1) 2 else 0
}

read_classes <- function(model) {
  names <- read_names(model, BDL_CLASS, class_count(model))
  if (is.null(names)) return(NULL)
  type <- bdl_model_get_class_type(model)
  if (type == BDL_CLASS_ORDERED) return(factor(names, names, ordered = TRUE))
  if (type == BDL_CLASS_BOOLEAN) return(names == "true")
  if (type == BDL_CLASS_TEXT) return(names)
  numbers <- as.numeric(names)
  if (type == BDL_CLASS_INTEGER && all(abs(numbers) <= .Machine$integer.max)) as.integer(numbers) else numbers
}

write_classes <- function(model, classes) {
  count <- class_count(model)
  if (count == 0 && !is.null(classes)) refuse("the model has no classes", call = sys.call(-1))
  text <- if (is.logical(classes)) tolower(classes) else if (is.double(classes)) sprintf("%.17g", classes) else classes
  write_names(model, BDL_CLASS, count, text, "classes")
  if (!is.null(classes)) bdl_model_set_class_type(model, class_type(classes))
}

class_type <- function(classes) {
  if (is.ordered(classes)) return(BDL_CLASS_ORDERED)
  if (is.logical(classes)) return(BDL_CLASS_BOOLEAN)
  if (is.integer(classes) && !is.factor(classes)) return(BDL_CLASS_INTEGER)
  if (is.double(classes)) BDL_CLASS_REAL else BDL_CLASS_TEXT
}

# Names of a fit: columns of x and of the response, and the values that classes stand for.
name_model <- function(model, x, response) {
  if (!is_dataset(x) && !is.null(colnames(x))) bdl_set_names(model, inputs = colnames(x)[seq_len(bdl_model_inputs(model))])
  if (!is.null(response$names)) bdl_set_names(model, targets = response$names)
  classes <- response_classes(response)
  if (class_count(model) == length(classes)) bdl_set_names(model, classes = classes)
}

response_classes <- function(response) {
  if (!is.null(response$values)) return(response$values)
  levels <- response$levels
  switch(response$kind, factor = levels, logical = c(FALSE, TRUE), numeric = if (is.null(levels)) 0:1 else as.numeric(levels))
}
