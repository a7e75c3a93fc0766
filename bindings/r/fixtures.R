# As tests/fixtures/fixtures.c, in R: Rscript fixtures.R CASES OUT [NAME FOLDER]...
library(bdl)

read_case <- function(path) strsplit(readLines(path), " ", fixed = TRUE)
words <- function(case, key) Find(function(line) line[1] == key, case)[-1]
table_of <- function(case, key, columns) matrix(as.numeric(words(case, key)), ncol = columns, byrow = TRUE)

train <- function(case) {
  dtype <- c(float32 = "single", float64 = "double")[[words(case, "dtype")]]
  model <- bdl_model(as.numeric(words(case, "sizes")), words(case, "activation"), words(case, "likelihood"),
                     dtype = dtype)
  rank <- words(case, "rank")
  posterior <- if (rank == "full") bdl_posterior(model, family = "full") else bdl_posterior(model, as.numeric(rank))
  x <- table_of(case, "x", bdl_model_inputs(model))
  y <- table_of(case, "y", bdl_model_targets(model))
  if (words(case, "standardize") == "1") bdl_model_standardize(model, x, y)
  optimizer <- bdl_optimizer(model, posterior, words(case, "method"), nrow(x))
  for (line in case) {
    if (line[1] %in% c("int", "double")) bdl_set_options(optimizer, setNames(list(as.numeric(line[3])), line[2]))
  }
  epochs <- as.numeric(words(case, "epochs"))
  scores <- if (epochs == 0) bdl_observe(optimizer, x, y) else { bdl_fit(optimizer, x, y, epochs); NULL }
  list(model = model, posterior = posterior, optimizer = optimizer, scores = scores)
}

write_line <- function(name, numbers) paste(c(name, sprintf("%.17g", t(numbers))), collapse = " ")

predictions <- function(case, model, posterior) {
  x <- table_of(case, "x_new", bdl_model_inputs(model))
  y <- table_of(case, "y_new", bdl_model_targets(model))
  shape <- c(nrow(x), bdl_model_outputs(model))
  moments <- bdl_predict(model, posterior, x, BDL_MONTE_CARLO, 20, 1, shape, shape, shape)
  density <- bdl_predict_log_density(model, posterior, x, y, BDL_MONTE_CARLO, 20, 1, c(nrow(x), 1))
  c(write_line("predict_mean", moments$mean), write_line("epistemic_variance", moments$epistemic_variance),
    write_line("noise_variance", moments$noise_variance), write_line("log_density", density))
}

results <- function(case, trained) {
  size <- bdl_posterior_dimension(trained$posterior)
  c(if (!is.null(trained$scores)) write_line("scores", trained$scores),
    write_line("mean", mean(trained$posterior)),
    write_line("variance", bdl_posterior_marginal_variance(trained$posterior, c(1, size))),
    write_line("sample", bdl_sample(trained$posterior, 3, seed = 5)),
    if (is.null(trained$scores)) write_line("running_elbo", unlist(bdl_optimizer_running_elbo(trained$optimizer, TRUE))),
    predictions(case, trained$model, trained$posterior))
}

arguments <- commandArgs(TRUE)
others <- matrix(arguments[-(1:2)], nrow = 2)
for (path in list.files(arguments[1], "[.]txt$", full.names = TRUE)) {
  case <- read_case(path)
  stem <- sub("[.]txt$", "", basename(path))
  out <- function(name) file.path(arguments[2], paste0(name, ".txt"))
  if (!ncol(others)) {
    trained <- train(case)
    writeLines(results(case, trained), out(stem))
    bdl_save(file.path(arguments[2], paste0(stem, ".safetensors")), optimizer = trained$optimizer)
  }
  for (k in seq_len(ncol(others))) {
    loaded <- bdl_load(file.path(others[2, k], paste0(stem, ".safetensors")))
    writeLines(predictions(case, loaded$model, loaded$posterior), out(paste0(stem, "-", others[1, k])))
  }
}
