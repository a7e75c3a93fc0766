# What one call costs from R beyond C: the steps of a tiny model, in microseconds.
# Rscript overhead.R, where pkg-config finds libbdl and the package is installed.
library(bdl)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
steps <- 100000
rounds <- 5

program <- tempfile()
flags <- system2("pkg-config", c("--cflags", "--libs", "bdl"), stdout = TRUE)
libdir <- system2("pkg-config", c("--variable=libdir", "bdl"), stdout = TRUE)
built <- system(paste("cc -O2 -o", program, file.path(here, "overhead.c"), flags, paste0("-Wl,-rpath,", libdir)))
stopifnot(built == 0)
in_c <- min(vapply(seq_len(rounds), function(i) as.numeric(system2(program, steps, stdout = TRUE)), 0))

x <- matrix(c(0.1, 0.2), 1)
y <- matrix(0.3)
model <- bdl_model(c(2, 1))
optimizer <- bdl_optimizer(model, bdl_posterior(model, 0), data_size = 50, threads = 1)
loop <- function(f) {
  f()
  min(vapply(seq_len(rounds), function(i) system.time(for (k in seq_len(steps)) f())[["elapsed"]], 0)) / steps * 1e6
}
low <- loop(function() bdl_optimizer_step(optimizer, x, y))
high <- loop(function() bdl_step(optimizer, x, y))
cat(sprintf("a step: C %.2f us, bdl_optimizer_step() %.2f us (+%.2f), bdl_step() %.2f us (+%.2f)\n", in_c, low,
            low - in_c, high, high - in_c))
cat(sprintf("limit of 20 us beyond C: %s\n", if (max(low, high) - in_c < 20) "kept" else "exceeded"))
