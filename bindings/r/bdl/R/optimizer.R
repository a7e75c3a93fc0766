# Optimizers: creation, training, streams.

bdl_optimizer <- function(model, posterior, method = "slang-ggn", data_size, ...) {
  optimizer <- bdl_optimizer_create(model, posterior, method, data_size)
  bdl_set_options(optimizer, ...)
  optimizer
}

# A posterior, with its mean and whole precision, normal priors of the parameters, or precisions.
bdl_set_prior <- function(optimizer, prior) {
  if (is_one_normal(prior)) {
    bdl_optimizer_set_prior_normal(optimizer, t(prior$location), t(prior$scale))
    return(invisible(optimizer))
  }
  prior <- posterior_of(prior)
  if (inherits(prior, "bdl_posterior")) {
    bdl_optimizer_set_prior_posterior(optimizer, prior)
  } else {
    bdl_optimizer_set_prior(optimizer, prior)
  }
  invisible(optimizer)
}

posterior_of <- function(prior) if (inherits(prior, "bdl")) handles_of(prior)$posterior else prior

bdl_fit <- function(optimizer, x, y, epochs = bdl_default("epochs"), progress = NULL) {
  if (inherits(x, "bdl_dataset")) {
    if (!missing(y)) refuse("y is given, but the data set has its own")
    if (missing(epochs)) epochs <- 1
    return(invisible(bdl_optimizer_fit_dataset(optimizer, x, epochs, progress)))
  }
  invisible(bdl_optimizer_fit(optimizer, as_inputs(x), y, epochs, progress))
}

bdl_step <- function(optimizer, x, y) {
  bdl_optimizer_step(optimizer, as_inputs(x), y)
  invisible(optimizer)
}

bdl_observe <- function(optimizer, x, y, score = TRUE) {
  x <- as_inputs(x)
  scores <- bdl_optimizer_observe(optimizer, x, y, if (score) c(nrow(x), 1))
  invisible(drop(scores))
}

bdl_elbo <- function(optimizer, x, y, samples = 100, seed = NULL) {
  if (is.null(seed)) seed <- drawn_seed()
  parts <- unlist(if (inherits(x, "bdl_dataset")) {
    bdl_optimizer_elbo_dataset(optimizer, x, samples, seed, TRUE)
  } else {
    bdl_optimizer_elbo(optimizer, as_inputs(x), y, samples, seed, TRUE)
  })
  c(elbo = parts[[1]] - parts[[2]], parts)
}
