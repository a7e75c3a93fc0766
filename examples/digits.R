# Handwritten digits, 14 x 14 bytes, by a Bayesian convolutional network. Rscript examples/digits.R
library(bdl)

folder <- file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "data")
data <- matrix(readBin(file.path(folder, "digits.bin"), "raw", 1500 * 197), ncol = 197, byrow = TRUE)
digit <- factor(as.integer(data[, 1]))
images <- data[, -1] # rows of raw bytes: as they are, they are images of c(14, 14, 1)
train <- 1:1000

fit <- bdl(images[train, ], digit[train], network = "conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2",
           image = c(14, 14, 1), seed = 1)

p <- predict(fit, images[-train, ], type = "prob")
right <- predict(fit, images[-train, ], type = "class") == digit[-train]
sure <- -rowSums(p * log(pmax(p, 1e-300))) < 0.5 # entropy in nats
cat(sprintf("test accuracy %.3f\n", mean(right)))
cat(sprintf("sure of %.1f %% of the test images, right on %.1f %% of these\n", 100 * mean(sure), 100 * mean(right[sure])))
