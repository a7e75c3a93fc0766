# Calls that must fail, each with a class of its error; run by test-errors.R, and under valgrind by valgrind.sh.

bad_handles <- alist(
  bdl_error_invalid_argument = bdl_model_parameters(NULL),
  bdl_error_invalid_argument = bdl_model_inputs(1),
  bdl_error_invalid_argument = bdl_model_outputs("model"),
  bdl_error_invalid_argument = bdl_model_targets(t$posterior),
  bdl_error_invalid_argument = bdl_model_dtype(list()),
  bdl_error_invalid_argument = bdl_model_likelihood(closed),
  bdl_error_invalid_argument = bdl_model_activation(stale),
  bdl_error_invalid_argument = bdl_posterior_dimension(t$model),
  bdl_error_invalid_argument = bdl_posterior_rank(NA),
  bdl_error_invalid_argument = bdl_posterior_family(quote(a)),
  bdl_error_invalid_argument = bdl_posterior_is_blank(mean),
  bdl_error_invalid_argument = bdl_posterior_copy(NULL),
  bdl_error_invalid_argument = bdl_model_copy(NULL),
  bdl_error_invalid_argument = bdl_optimizer_method(t$model),
  bdl_error_invalid_argument = bdl_optimizer_data_size(NULL),
  bdl_error_invalid_argument = bdl_optimizer_progress(globalenv()),
  bdl_error_invalid_argument = bdl_optimizer_request_stop(NULL),
  bdl_error_invalid_argument = bdl_search_trial_count(t$optimizer),
  bdl_error_invalid_argument = bdl_search_request_stop(NULL),
  bdl_error_invalid_argument = bdl_communicator_size(NULL),
  bdl_error_invalid_argument = bdl_communicator_statistics(t$model),
  bdl_error_invalid_argument = bdl_communicator_create(0, 1, list(mean, NULL)),
  bdl_error_invalid_argument = bdl_communicator_create(0, NA, list(mean, mean)),
  bdl_error_invalid_argument = bdl_optimizer_set_communicator(NULL, NULL),
  bdl_error_invalid_argument = bdl_optimizer_set_communicator(t$optimizer, t$posterior),
  bdl_error_invalid_argument = bdl_optimizer_create(t$model, NULL, "slang", 10),
  bdl_error_invalid_argument = bdl_optimizer_create(closed, t$posterior, "slang", 10),
  bdl_error_invalid_argument = bdl_posterior_kl(t$posterior, NULL),
  bdl_error_invalid_argument = bdl_handle_close(1),
  bdl_error_invalid_argument = bdl_handle_is_open(NULL),
  bdl_error_invalid_argument = bdl_save(tempfile(), closed),
  bdl_error_invalid_argument = bdl_save_bytes(NULL, NULL, NULL, NULL),
  bdl_error_invalid_argument = predict_toy(model = stale),
  bdl_error_invalid_argument = predict_toy(posterior = t$model),
  bdl_error_invalid_argument = close(structure(list(), class = "bdl_handle"))
)

bad_arrays <- alist(
  bdl_error_shape = bdl_optimizer_step(t$optimizer, t$x, t$y[1:3]),
  bdl_error_shape = bdl_optimizer_step(t$optimizer, t$x[, 1], t$y),
  bdl_error_shape = bdl_optimizer_fit(t$optimizer, t(t$x), t$y, 1, NULL),
  bdl_error_shape = bdl_optimizer_step(t$optimizer, t$x, cbind(t$y, t$y)),
  bdl_error = bdl_optimizer_step(t$optimizer, NULL, t$y),
  bdl_error = bdl_optimizer_step(t$optimizer, t$x, NULL),
  bdl_error = bdl_optimizer_step(t$optimizer, t$x[0, ], t$y[0]),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, "x", t$y),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, list(1), t$y),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, as.data.frame(t$x), t$y),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, t$x, factor(t$y > 0)),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, t$x + 0i, t$y),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, array(0, c(2, 2, 2)), t$y),
  bdl_error_invalid_argument = bdl_optimizer_step(t$optimizer, as.raw(1:4), t$y),
  bdl_error_not_finite = bdl_optimizer_step(t$optimizer, t$x / 0, t$y),
  bdl_error_not_finite = bdl_optimizer_step(t$optimizer, replace(t$x, 3, NA), t$y),
  bdl_error_not_finite = bdl_optimizer_step(t$optimizer, matrix(NA_integer_, 40, 2), t$y),
  bdl_error_not_finite = bdl_optimizer_step(t$optimizer, matrix(NA, 40, 2), t$y),
  bdl_error_shape = bdl_optimizer_step_rows(t$optimizer, matrix(0, 3, 2)),
  bdl_error_shape = bdl_posterior_mean(t$posterior, c(1, 3)),
  bdl_error_shape = bdl_posterior_mean(t$posterior, c(17, 1)),
  bdl_error = bdl_posterior_mean(t$posterior, NULL),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, c(-1, 3)),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, c(1, 2, 3)),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, c(1, NA)),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, c(1, 2.5)),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, c(1, 1e12)),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, "1"),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, TRUE),
  bdl_error_invalid_argument = bdl_posterior_mean(t$posterior, integer(0)),
  bdl_error_shape = bdl_posterior_set_low_rank(t$posterior, 1:3 + 0, NULL, rep(1, 17)),
  bdl_error_shape = bdl_posterior_solve(t$posterior, matrix(0, 2, 3), c(2, 17)),
  bdl_error_shape = bdl_posterior_log_density(t$posterior, rep(0, 3), c(1, 1)),
  bdl_error_invalid_argument = bdl_posterior_covariance(t$posterior, 17, 0, c(1, 1)),
  bdl_error_invalid_argument = bdl_posterior_covariance(t$posterior, -1, 0, c(1, 1)),
  bdl_error_invalid_argument = bdl_posterior_covariance(t$posterior, "a", 0, c(1, 1)),
  bdl_error = bdl_posterior_covariance(t$posterior, numeric(0), 0, c(0, 1)),
  bdl_error_shape = bdl_posterior_covariance(t$posterior, 0:1, 0, c(1, 1)),
  bdl_error_shape = predict_toy(x = t$x[, 1]),
  bdl_error_shape = predict_toy(shape = c(40, 2)),
  bdl_error_shape = bdl_metric_rmse(matrix(0, 3, 2), matrix(0, 3, 1)),
  bdl_error = bdl_metric_rmse(NULL, NULL),
  bdl_error_not_finite = bdl_metric_rmse(c(1, NA), c(1, 2)),
  bdl_error = bdl_metric_accuracy(matrix(0.5, 3, 2), c(0, 1, 5)),
  bdl_error = bdl_metric_ece(c(0.1, 0.2), c(0, 1), 0),
  bdl_error = bdl_metric_brier(c(0.1, 2), c(0, 1)),
  bdl_error_shape = bdl_metric_coverage(1:2 + 0, 1:3 + 0, 1:3 + 0),
  bdl_error_shape = bdl_metric_crps(matrix(0, 3, 4), 1:2 + 0)
)

# Calls added later: metrics, families, networks, noise.
bad_additions <- alist(
  bdl_error = bdl_metric_nll(matrix(c(1, 0), 1), 1),
  bdl_error = bdl_calibration_curve(matrix(0.5, 3, 2), c(0, 1, 1), bins = 0),
  bdl_error = bdl_entropy(matrix(c(0.5, 0.6), 1)),
  bdl_error = bdl_metric_auroc(1, numeric(0)),
  bdl_error = bdl_metric_aupr(matrix(0, 2, 2), 1),
  bdl_error = bdl_metric_fpr(1, 0, 0),
  bdl_error_not_finite = bdl_roc_curve(Inf, 0),
  bdl_error = bdl_metric_detection_error(numeric(0), 1),
  bdl_error = bdl_auroc_correct(matrix(c(0.9, 0.1), 1), 0),
  bdl_error_invalid_argument = bdl_auroc_correct(matrix(0.5, 2, 2), c(0, 1), score = "margin"),
  bdl_error = bdl_ood(matrix(0.5, 2, 2), matrix(1 / 3, 2, 3)),
  bdl_error = bdl_metric_entropy(NULL, c(1, 1)),
  bdl_error = bdl_temper(matrix(0, 2, 2), 0),
  bdl_error = bdl_temperature_fit(matrix(0, 2, 1), c(0, 1)),
  bdl_error = bdl_posterior_create_kronecker(t$posterior),
  bdl_error = bdl_posterior_create_kronecker(NULL),
  bdl_error = bdl_posterior_create_low_rank_moment(2, 3, -1),
  bdl_error = bdl_posterior_create_low_rank_moment(2, 3, 1000),
  bdl_error = bdl_posterior_create_layerwise_low_rank_moment(t$model, 257),
  bdl_error = bdl_optimizer_create(t$model, t$posterior, "kfac", 10),
  bdl_error = bdl_model_create_network(2, "input 2; dence 1", 1),
  bdl_error = bdl_model_create_network(2, "input 1 3 3; conv 1 5; dense 1", 1),
  bdl_error = bdl_network_description("lenet", 1, 28, 28, 10),
  bdl_error = bdl_model_set_degrees_of_freedom(t$model, 4),
  bdl_error = bdl_preset_describe("vogn-resnet19"),
  bdl_error_invalid_argument = bdl_load_bytes(1:3e9, NULL, TRUE, FALSE, FALSE)
)

bad_scalars <- alist(
  bdl_error_invalid_argument = bdl_model(c(2, 0, 1)),
  bdl_error_invalid_argument = bdl_model(2),
  bdl_error_invalid_argument = bdl_model(numeric(0)),
  bdl_error_invalid_argument = bdl_model(c(2, NA, 1)),
  bdl_error_invalid_argument = bdl_model(c(2, 1.5)),
  bdl_error_invalid_argument = bdl_model("2"),
  bdl_error_invalid_argument = bdl_model(c(2, 1), likelihood = "categorical"),
  bdl_error_invalid_argument = bdl_model(c(2, 1), likelihood = "tweedie"),
  bdl_error_invalid_argument = bdl_model(c(2, 1), activation = 2),
  bdl_error_invalid_argument = bdl_model(c(2, 1), activation = c("relu", "tanh")),
  bdl_error_invalid_argument = bdl_model(c(2, 1), dtype = "half"),
  bdl_error_invalid_argument = bdl_model(c(2, 1), bias = 2),
  bdl_error_invalid_argument = bdl_model(c(2, 1), bias = NA),
  bdl_error_invalid_argument = bdl_model_create_mlp(99, c(2, 1), 1, 1, 1),
  bdl_error_invalid_argument = bdl_model_create_mlp(2, c(2, 1), 99, 1, 1),
  bdl_error_invalid_argument = bdl_model_create_mlp(2, c(2, 1), 1, 1, 0),
  bdl_error_invalid_argument = bdl_model_create_mlp(2^40, c(2, 1), 1, 1, 1),
  bdl_error_invalid_argument = bdl_model_block(t$model, -1),
  bdl_error_invalid_argument = bdl_model_block(t$model, 99),
  bdl_error_invalid_argument = bdl_model_block(t$model, 2^60),
  bdl_error_invalid_argument = bdl_model_block(t$model, c(0, 1)),
  bdl_error_invalid_argument = bdl_model_set_noise_precision(t$model, -1),
  bdl_error = bdl_model_set_noise_precision(t$model, NA_real_),
  bdl_error = bdl_model_set_noise_covariance(t$model, matrix(-1)),
  bdl_error_invalid_argument = bdl_posterior(-3),
  bdl_error_invalid_argument = bdl_posterior(t$model, rank = 18),
  bdl_error_invalid_argument = bdl_posterior(t$model, rank = -1),
  bdl_error_invalid_argument = bdl_posterior(t$model, rank = "5"),
  bdl_error_invalid_argument = bdl_posterior(t$model, family = "wide"),
  bdl_error_invalid_argument = bdl_posterior(t$model, family = "dropout", dropout = c(0, 1)),
  bdl_error_invalid_argument = bdl_posterior(t$model, family = "dropout", dropout = c(0, 0.1, 0.2)),
  bdl_error_invalid_argument = bdl_posterior(10, family = "dropout"),
  bdl_error_invalid_argument = bdl_sample(t$posterior, 2, seed = -1),
  bdl_error_invalid_argument = bdl_sample(t$posterior, 2, seed = 2^54),
  bdl_error_invalid_argument = bdl_sample(t$posterior, 2, seed = NA),
  bdl_error_invalid_argument = bdl_sample(t$posterior, 2, seed = 1.5),
  bdl_error_invalid_argument = bdl_sample(t$posterior, -1, seed = 1),
  bdl_error_invalid_argument = bdl_sample(t$posterior, 2, seed = 1, first = -1),
  bdl_error_invalid_argument = bdl_optimizer(t$model, t$posterior, "slangg", 10),
  bdl_error_invalid_argument = bdl_optimizer(t$model, t$posterior, NA_character_, 10),
  bdl_error_invalid_argument = bdl_optimizer(t$model, t$posterior, 1, 10),
  bdl_error_invalid_argument = bdl_optimizer(t$model, t$posterior, "slang", 0),
  bdl_error_invalid_argument = bdl_optimizer(t$model, t$posterior, "slang", Inf),
  bdl_error_unsupported = bdl_optimizer(t$model, t$posterior, "vogn", 10),
  bdl_error_invalid_argument = bdl_optimizer_fit(t$optimizer, t$x, t$y, -1, NULL),
  bdl_error_invalid_argument = bdl_optimizer_fit(t$optimizer, t$x, t$y, 1, "progress"),
  bdl_error_invalid_argument = bdl_optimizer_fit(t$optimizer, t$x, t$y, NULL, NULL),
  bdl_error_invalid_argument = bdl_optimizer_forecast(t$optimizer, -1),
  bdl_error_invalid_argument = bdl_optimizer_set_draws(t$optimizer, 3),
  bdl_error_invalid_argument = bdl_optimizer_set_prior(t$optimizer, 0),
  bdl_error_invalid_argument = bdl_optimizer_memory(t$optimizer, -1),
  bdl_error_invalid_argument = bdl_optimizer_running_elbo(t$optimizer, NA),
  bdl_error_invalid_argument = predict_toy(method = 0),
  bdl_error_invalid_argument = predict_toy(method = "monte_carlo"),
  bdl_error_invalid_argument = predict_toy(samples = 0),
  bdl_error_unsupported = predict_toy(method = 3),
  bdl_error_unsupported = bdl_predict_classes(t$model, t$posterior, t$x, 1, 5, 1, c(40, 1), NULL, NULL),
  bdl_error_invalid_argument = bdl_predict_interval(t$model, t$posterior, t$x, 1, 5, 1, 2, c(40, 1), c(40, 1)),
  bdl_error_invalid_argument = bdl_predictor_create(t$model, t$posterior, 0, 5, 1),
  bdl_error_invalid_argument = bdl_predictor_create(t$model, NULL, 1, 5, 1),
  bdl_error_invalid_argument = bdl_predictor_moments(t$model, t$x, c(40, 1), NULL, NULL),
  bdl_error_invalid_argument = bdl_predictor(t$model, t$posterior, samples = 0),
  bdl_error_invalid_argument = bdl_predictor(t$model, t$posterior, "guess"),
  bdl_error_shape = predict(bdl_predictor(t$model, t$posterior), t$x[, 1]),
  bdl_error_unsupported = predict(bdl_predictor(t$model, t$posterior), t$x, "prob"),
  bdl_error_unsupported = predict(bdl_predictor(t$model, t$posterior, "plug_in"), t$x, "draws"),
  bdl_error_invalid_argument = bdl_option_describe(1000),
  bdl_error_invalid_argument = bdl_status_name("a")
)

bad_options <- alist(
  bdl_error_unknown_option = bdl_set_options(t$optimizer, learning_rat = 1),
  bdl_error_unknown_option = bdl_optimizer_get_choice(t$optimizer, ""),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, learning_rate = -1),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, learning_rate = NaN),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, learning_rate = "fast"),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, schedule = "linear"),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, schedule = 1),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, samples = 0),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, samples = 1.5),
  bdl_error_invalid_argument = bdl_set_options(t$optimizer, 3),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(0.1)),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(learning_rate = 1)),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(learning_rate = c(2, 1))),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(learning_rate = c(0.1, 1)), folds = 1),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(learning_rate = c(0.1, 1)), method = "guess"),
  bdl_error_invalid_argument = bdl_search(t$optimizer, list(schedule = c("cosine", "linear"))),
  bdl_error_unknown_option = bdl_search(t$optimizer, list(learning_rat = c(0.1, 1))),
  bdl_error_unsupported = bdl_search_best(bdl_search(t$optimizer, list(learning_rate = c(0.1, 1)))),
  bdl_error_invalid_argument = bdl_search_trial(bdl_search(t$optimizer, list(learning_rate = c(0.1, 1))), 0, c(1, 1))
)

bad_files <- alist(
  bdl_error_file = bdl_load(tempfile()),
  bdl_error_file = bdl_save(file.path(tempfile(), "missing", "x"), t$model),
  bdl_error_file = bdl_checkpoint_parts(tempdir()),
  bdl_error_format = bdl_load(text_file),
  bdl_error_invalid_argument = bdl_load(NA_character_),
  bdl_error_invalid_argument = bdl_load(3),
  bdl_error_invalid_argument = bdl_load(character(0)),
  bdl_error_invalid_argument = bdl_save(c("a", "b"), t$model),
  bdl_error_invalid_argument = bdl_save(tempfile()),
  bdl_error_format = bdl_load_bytes(as.raw(1:50), NULL, TRUE, FALSE, FALSE),
  bdl_error_format = bdl_load_bytes(raw(0), NULL, TRUE, FALSE, FALSE),
  bdl_error_invalid_argument = bdl_load_bytes("bytes", NULL, TRUE, FALSE, FALSE),
  bdl_error_invalid_argument = bdl_load_bytes(raw(8), NULL, NULL, FALSE, FALSE),
  bdl_error_shape = bdl_save_bytes(t$model, NULL, NULL, 10),
  bdl_error_invalid_argument = bdl_save_bytes(t$model, NULL, NULL, -1)
)

bad_user_models <- alist(
  bdl_error_invalid_argument = bdl_user_model(1, sizes = c(2, 1), parameters = 3),
  bdl_error_invalid_argument = bdl_user_model(mean, "gradients", sizes = c(2, 1), parameters = 3),
  bdl_error_invalid_argument = bdl_user_model(mean, sizes = 2, parameters = 3),
  bdl_error_invalid_argument = bdl_user_model(mean, sizes = c(2, 0), parameters = 3),
  bdl_error_invalid_argument = bdl_user_model(mean, sizes = c(2, 1), parameters = 0),
  bdl_error_callback = predict_user(function(theta, x) NULL),
  bdl_error_callback = predict_user(function(theta, x) matrix(0, nrow(x), 2)),
  bdl_error_callback = predict_user(function(theta, x) "a"),
  simpleError = predict_user(function(theta, x) stop("mine")),
  error = predict_user(function() 1),
  bdl_error = predict_user(function(theta, x) 0 * x[, 1] / 0)
)

bad_formulas <- alist(
  bdl_error_invalid_argument = quick(y ~ a, d, family = "tweedie"),
  bdl_error_invalid_argument = quick(y ~ a, d, family = Gamma()),
  bdl_error_invalid_argument = quick(y ~ a, d, family = poisson("identity")),
  bdl_error_label = quick(y ~ a, d, family = poisson),
  bdl_error_label = quick(y ~ a, d, family = "binomial"),
  bdl_error_invalid_argument = quick(g ~ a, d, family = "gaussian"),
  bdl_error_invalid_argument = quick(g ~ a, d, family = "bernoulli"),
  bdl_error_invalid_argument = quick(y ~ 1, d),
  bdl_error_invalid_argument = quick(~a, d),
  bdl_error_invalid_argument = quick(y ~ a + offset(b / 0), d),
  bdl_error_invalid_argument = quick(y ~ a, d, weights = -1 + 0 * a),
  bdl_error_invalid_argument = quick(y ~ a, d, weights = 0 * a),
  error = quick(y ~ a, d, weights = 1:2),
  bdl_error_invalid_argument = quick(y ~ a, d, hiden = 3),
  bdl_error_invalid_argument = quick(y ~ a, d, rank = "wide"),
  bdl_error_invalid_argument = quick(y ~ a, d, hidden = -1),
  bdl_error_invalid_argument = quick(y ~ a, d, method = "lang"),
  bdl_error_invalid_argument = quick(y ~ a, d, seed = 1.5),
  bdl_error_unknown_option = quick(y ~ a, d, control = list(sample = 3)),
  bdl_error_not_finite = quick(y ~ a, transform(d, a = replace(a, 2, NA)), na.action = na.pass),
  error = quick(y ~ missing_variable, d),
  error = quick(y ~ a, transform(d, a = replace(a, 2, NA)), na.action = na.fail),
  bdl_error_invalid_argument = bdl(d$a),
  bdl_error_invalid_argument = quick(d$a, d$y[1:5]),
  bdl_error_invalid_argument = quick("a", d$y),
  bdl_error_invalid_argument = quick(d$a, list(1)),
  error = predict(fit, d["b"]),
  error = predict(fit, d, type = "mean"),
  bdl_error_unsupported = predict(fit, d, type = "class"),
  bdl_error_unsupported = predict(classifier, d, type = "interval"),
  bdl_error_invalid_argument = predict(fit, d, type = "interval", level = 1.5),
  bdl_error_invalid_argument = predict(fit, d, type = "quantile", probs = 2),
  bdl_error_invalid_argument = predict(fit, d, method = "guess"),
  bdl_error_unsupported = predict(fit, d, method = "quadrature"),
  bdl_error_invalid_argument = predict(fit, d, method = "monte_carlo", samples = 0),
  bdl_error_invalid_argument = predict(fit, d, nsim = 3),
  bdl_error_invalid_argument = plot(fit, "bands"),
  error = plot(fit, "colours"),
  error = vcov(fit)[1e6],
  error = vcov(fit)["no such parameter", 1]
)

bad_calls <- c(bad_handles, bad_arrays, bad_additions, bad_scalars, bad_options, bad_files, bad_user_models, bad_formulas)

# Objects on which the calls are made.
bad_call_space <- function() {
  space <- new.env(parent = environment(toy))
  evalq({
    t <- toy()
    d <- line_data()
    closed <- bdl_model(c(2, 1))
    close(closed)
    stale <- unserialize(serialize(bdl_model(c(2, 1)), NULL))
    text_file <- tempfile()
    writeLines("this is no checkpoint, whatever its length may be", text_file)
    fit <- quick(y ~ a + b, d, hidden = 3)
    classifier <- quick(class ~ a, d, hidden = 3)
    predict_toy <- function(model = t$model, posterior = t$posterior, x = t$x, method = 1, samples = 5,
                            shape = c(40, 1)) {
      bdl_predict(model, posterior, x, method, samples, 1, shape, NULL, NULL)
    }
    predict_user <- function(outputs) {
      bdl_predict(user_line(outputs), bdl_posterior(3, 0), t$x, 1, 5, 1, c(40, 1), NULL, NULL)
    }
  }, space)
  space
}

# TRUE, or what came instead of the error.
fails_as_said <- function(call, class, space) {
  result <- tryCatch(list(value = eval(call, space)), error = identity)
  if (!inherits(result, "error")) return(paste("no error:", deparse(call)[1]))
  if (!inherits(result, class)) {
    return(paste0(deparse(call)[1], ": ", class(result)[1], ", not ", class, ": ", conditionMessage(result)))
  }
  nzchar(conditionMessage(result)) || paste("no message:", deparse(call)[1])
}
