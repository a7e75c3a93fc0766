# Do 95 % intervals of Gaussian models of few rows contain 95 %? Rscript coverage.R REPEATS prints a table of Markdown.
suppressMessages(library(bdl))
repeats <- as.integer(commandArgs(TRUE)[1])

holds <- function(interval, value) interval[[1]] <= value && value <= interval[[2]]
draw <- function(n, slopes) {
  x <- matrix(rnorm(n * length(slopes)), n, dimnames = list(NULL, paste0("x", seq_along(slopes))))
  data.frame(x, y = drop(1 + x %*% slopes + rnorm(n)))
}
one_fit <- function(n, slopes, seed) {
  set.seed(seed)
  data <- draw(n, slopes)
  new <- draw(1, slopes)
  fit <- bdl_glm(y ~ ., data, seed = 1)
  c(holds(confint(fit)["x1", ], slopes[1]), holds(predict(fit, new, interval = "prediction")[2:3], new$y),
    holds(predict(fit, new, interval = "confidence")[2:3], 1 + sum(as.matrix(new[names(new) != "y"]) * slopes)))
}
coverage <- function(n, slopes) rowMeans(sapply(seq_len(repeats), function(r) one_fit(n, slopes, 1000 * n + r)))

cat("| rows | one input: slope | prediction | mean | two inputs: slope | prediction | mean |\n")
cat("| --- | --- | --- | --- | --- | --- | --- |\n")
for (n in c(5, 6, 8, 12, 20, 50)) {
  cells <- c(coverage(n, 2), coverage(n, c(0.5, -0.5)))
  cat("|", paste(c(n, sprintf("%.3f", cells)), collapse = " | "), "|\n")
}
