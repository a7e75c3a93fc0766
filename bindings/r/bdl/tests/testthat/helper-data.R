# Small data and handles for all tests.

line_data <- function(n = 60, seed = 1) {
  set.seed(seed)
  d <- data.frame(a = rnorm(n), b = rnorm(n), g = factor(rep(c("u", "v", "w"), length.out = n)))
  d$y <- 3 + 2 * d$a - d$b + (d$g == "v") + rnorm(n, sd = 0.3)
  d$class <- factor(ifelse(d$a + rnorm(n, sd = 0.5) > 0, "yes", "no"))
  d$count <- rpois(n, exp(0.3 * d$a + 1))
  d
}

# Without what is said of fits that are too short.
hushed <- function(fit) withCallingHandlers(fit, bdl_warning = function(w) invokeRestart("muffleWarning"))

# Without what is said of them, but for what is of interest.
hushed_but <- function(fit, message) {
  withCallingHandlers(fit, bdl_warning = function(w) if (!grepl(message, conditionMessage(w))) invokeRestart("muffleWarning"))
}

# bdl() with a short course. The call is made where it was written, so that it can be updated.
quick <- function(...) {
  given <- as.list(substitute(list(...)))[-1]
  hushed(eval(as.call(c(list(quote(bdl)), given, list(epochs = 15, samples = 50, verbose = FALSE))), parent.frame()))
}

toy <- function(n = 40, method = "slang-ggn", rank = 3) {
  set.seed(2)
  x <- matrix(rnorm(2 * n), n)
  model <- bdl_model(c(2, 4, 1))
  posterior <- bdl_posterior(model, rank)
  list(x = x, y = x[, 1] + 0.1 * rnorm(n), model = model, posterior = posterior,
       optimizer = bdl_optimizer(model, posterior, method, n, threads = 1))
}

user_line <- function(outputs = NULL, gradients = NULL) {
  if (is.null(outputs)) outputs <- function(theta, x) x %*% theta[1:2] + theta[3]
  if (is.null(gradients)) gradients <- function(theta, x, seed) cbind(seed[, 1] * x, seed[, 1])
  bdl_user_model(outputs, gradients, sizes = c(2, 1), parameters = 3)
}

# Bytes by the system's account of this process.
status_bytes <- function(key) {
  line <- grep(paste0("^", key, ":"), readLines("/proc/self/status"), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

# The words that a script prints in a process of its own.
child_words <- function(lines) {
  script <- tempfile(fileext = ".R")
  writeLines(lines, script)
  strsplit(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = TRUE), " ")[[1]]
}
