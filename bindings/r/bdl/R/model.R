# Models: networks, and functions of the user's own.

bdl_model <- function(sizes, activation = "relu", likelihood = "gaussian", bias = TRUE, dtype = "double") {
  bdl_model_create_mlp(number_of(dtype, dtypes, "dtype"), sizes, number_of(activation, activations, "activation"),
                       bias, number_of(likelihood, likelihoods, "likelihood"))
}

bdl_network <- function(description, likelihood = "gaussian", dtype = "double") {
  bdl_model_create_network(number_of(dtype, dtypes, "dtype"), paste(description, collapse = "\n"),
                           number_of(likelihood, likelihoods, "likelihood"))
}

bdl_user_model <- function(outputs, gradients = NULL, sizes, parameters, likelihood = "gaussian",
                           dtype = "double") {
  if (!is.numeric(sizes) || length(sizes) != 2) refuse("sizes must be c(inputs, outputs)")
  bdl_model_create_user(number_of(dtype, dtypes, "dtype"), sizes[1], sizes[2], parameters,
                        number_of(likelihood, likelihoods, "likelihood"), list(outputs, gradients))
}

# Class numbers count from 0, as labels do here.
bdl_classes <- function(model) as.vector(bdl_model_get_classes(model, c(1, bdl_model_class_count(model))))

bdl_set_classes <- function(model, classes = NULL) {
  bdl_model_set_classes(model, classes)
  invisible(model)
}

bdl_blocks <- function(model) rows_of(bdl_model_block_count(model), function(i) bdl_model_block(model, i))

# Names of all parameters, "layer0.weight[2,1]": output 2, input 1 of the first layer.
parameter_names <- function(model) {
  blocks <- bdl_blocks(model)
  unlist(lapply(seq_len(nrow(blocks)), function(b) {
    rows <- blocks$rows[b]
    cols <- blocks$cols[b]
    if (cols == 1 && endsWith(blocks$name[b], "bias")) return(sprintf("%s[%d]", blocks$name[b], seq_len(rows)))
    sprintf("%s[%d,%d]", blocks$name[b], rep(seq_len(rows), each = cols), rep(seq_len(cols), rows))
  }))
}
