# Measures what one call costs from R beyond C: Rscript overhead.R MICROSECONDS, those of the same step in C (step.c).
library(bdl)

steps <- 50000
in_c <- as.numeric(commandArgs(TRUE))
x <- matrix(c(0.1, 0.2), 1)
y <- matrix(0.3)
model <- bdl_model(c(2, 1))
optimizer <- bdl_optimizer(model, bdl_posterior(model, 0), data_size = 50, threads = 1)
loop <- function(f) {
  f()
  min(vapply(1:5, function(i) system.time(for (k in seq_len(steps)) f())[["elapsed"]], 0)) / steps * 1e6
}
low <- loop(function() bdl_optimizer_step(optimizer, x, y))
high <- loop(function() bdl_step(optimizer, x, y))
cat(sprintf("R:      bdl_optimizer_step() %.2f us (+%.2f), bdl_step() %.2f us (+%.2f)\n", low, low - in_c, high, high - in_c))
