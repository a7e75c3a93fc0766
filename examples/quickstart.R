# Quickstart: a Bayesian neural network on the yacht data (308 x 6), one published split, default options.
# Rscript examples/quickstart.R
library(bdl)

folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "data")
yachts <- read.csv(file.path(folder, "yacht.csv"), header = FALSE)
names(yachts)[7] <- "resistance"
rows <- scan(file.path(folder, "yacht_test_rows.csv"), sep = ",", nlines = 1, quiet = TRUE) + 1  # counted from 0 there
test <- yachts[rows, ]

fit <- bdl(resistance ~ ., yachts[-rows, ], seed = 1)

handles <- bdl_handles(fit)
y <- test$resistance
log_density <- bdl_predict_log_density(handles$model, handles$posterior, as.matrix(test[1:6]), y, BDL_LINEARIZED,
                                       500, 1, c(nrow(test), 1))
cat(sprintf("test RMSE %.3f  log likelihood %.3f  (in the target's units)\n",
            sqrt(mean((predict(fit, test) - y)^2)), mean(log_density)))
for (percent in c(50, 90, 95)) {
  band <- predict(fit, test, type = "interval", level = percent / 100)
  cat(sprintf("%d %% intervals hold %.0f %% of the test targets\n", percent,
              100 * mean(band[, "lwr"] <= y & y <= band[, "upr"])))
}
noise <- predict(fit, test, se.fit = TRUE)$noise
cat(sprintf("learned noise: standard deviations from %.3f to %.3f\n", min(noise), max(noise)))
