# Posteriors.

bdl_posterior <- function(model, rank = 5, family = "low_rank", dtype = "double", dropout = bdl_default("hidden_rate")) {
  kind <- number_of(family, posterior_families, "family")
  is_model <- inherits(model, "bdl_model")
  if (kind == BDL_DROPOUT) {
    if (length(dropout) == 1) dropout <- c(bdl_default("input_rate"), dropout)
    if (!is.numeric(dropout) || length(dropout) != 2) refuse("dropout must be the hidden units' rate, or c(input rate, hidden rate)")
    return(bdl_posterior_create_dropout(model, dropout[1], dropout[2]))
  }
  if (kind == BDL_LAYERWISE_FULL && is_model) return(bdl_posterior_create_layerwise_full(model))
  if (kind == BDL_LAYERWISE_LOW_RANK_MOMENT) {
    if (!is_model) refuse("a layerwise_low_rank_moment posterior needs its model")
    return(bdl_posterior_create_layerwise_low_rank_moment(model, rank))
  }
  if (kind == BDL_KRONECKER) {
    if (!is_model) refuse("a kronecker posterior needs its model")
    return(bdl_posterior_create_kronecker(model))
  }
  type <- if (is_model) bdl_model_dtype(model) else number_of(dtype, dtypes, "dtype")
  size <- if (is_model) bdl_model_parameters(model) else model
  switch(family,
    low_rank = bdl_posterior_create_low_rank(type, size, rank),
    low_rank_moment = bdl_posterior_create_low_rank_moment(type, size, rank),
    full = bdl_posterior_create_full(type, size),
    full_moment = bdl_posterior_create_full_moment(type, size),
    diagonal_moment = bdl_posterior_create_diagonal_moment(type, size),
    layerwise_full = bdl_posterior_create_blockwise_full(type, size)
  )
}

mean.bdl_posterior <- function(x, ...) drop(bdl_posterior_mean(x, c(1, bdl_posterior_dimension(x))))

vcov.bdl_posterior <- function(object, ...) new_vcov(function() object, bdl_posterior_dimension(object))

# All that a posterior consists of, by name: the mean, and its family's vectors and matrices.
bdl_tensors <- function(posterior) {
  indices <- seq_len(bdl_posterior_tensor_count(posterior)) - 1
  described <- lapply(indices, function(i) bdl_posterior_tensor_describe(posterior, i))
  tensors <- lapply(indices, function(i) {
    of <- described[[i + 1]]
    values <- bdl_posterior_get_tensor(posterior, i, c(of$rows, of$cols))
    if (sub(".*[.]", "", of$name) %in% c("mean", "diagonal", "variance")) drop(values) else values
  })
  names(tensors) <- vapply(described, function(of) of$name, "")
  tensors
}

# Sets tensors by name, all or, on an error, none; those that are not named stay. Factors may be left out.
bdl_set_tensors <- function(posterior, tensors) {
  bdl_posterior_set_tensors(posterior, Filter(length, tensors))
  invisible(posterior)
}

bdl_sample <- function(posterior, n = 1, seed = NULL, first = 0) {
  if (is.null(seed)) seed <- drawn_seed()
  bdl_posterior_sample(posterior, seed, first, c(n, bdl_posterior_dimension(posterior)))
}

# Seeds that come from R's generator, so that set.seed() governs.
drawn_seed <- function() sample.int(.Machine$integer.max, 1L)
