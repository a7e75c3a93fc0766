# Measures what training on a large matrix adds to the memory: Rscript memory.R [GIGABYTES].
library(bdl)

gigabytes <- max(1, as.numeric(commandArgs(TRUE)))
columns <- 100
rows <- round(gigabytes * 1e9 / 8 / columns)
megabytes <- function(key) as.numeric(gsub("[^0-9]", "", grep(key, readLines("/proc/self/status"), value = TRUE))) / 1024
x <- matrix(stats::rnorm(rows * columns), rows)
y <- x[, 1] - x[, 2]
model <- bdl_model(c(columns, 8, 1))
invisible(bdl_model_standardize(model, x, y))
optimizer <- bdl_optimizer(model, bdl_posterior(model, 1), data_size = rows, minibatch = 2000)
invisible(gc())
writeLines("5", "/proc/self/clear_refs") # the peak is set back: making the matrix took more
before <- megabytes("VmRSS")
seconds <- system.time(bdl_fit(optimizer, x, y, 1))[["elapsed"]]
cat(sprintf("R:      %.2f GB of double, one epoch: %.1f MB more, %.1f s\n", 8e-9 * length(x), megabytes("VmHWM") - before, seconds))
