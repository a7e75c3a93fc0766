# Images: every way of holding them gives the same fit, and what does not fit is said.

layers <- "conv 4 3; relu; maxpool 2"

# Images (n, rows, columns, channels) of bytes with a bar across or down in the first channel.
bars <- function(n = 60) {
  set.seed(5)
  images <- array(sample(0:80, n * 9 * 8 * 2, replace = TRUE), c(n, 9, 8, 2))
  down <- seq_len(n) > n / 2
  images[!down, 5, , 1] <- 250
  images[down, , 5, 1] <- 250
  list(images = images, label = factor(ifelse(down, "down", "across")))
}

# Rows as the library has them: channel by channel, row by row.
rows_of_images <- function(images) {
  t(apply(images, 1, function(image) as.vector(aperm(image, c(2, 1, 3)))))
}

raw_like <- function(x) array(as.raw(x), dim(x))

image_fit <- function(x, y, ...) {
  hushed(bdl(x, y, network = layers, seed = 3, samples = 10, epochs = 20, verbose = FALSE, ...))
}

test_that("arrays, bytes and matrices give the same fit", {
  d <- bars()
  fit <- image_fit(d$images, d$label)
  expect_identical(as.double(fit$settings$image), c(9, 8, 2))
  expect_identical(bdl_model_dtype(bdl_handles(fit)$model), BDL_F32)
  p <- predict(fit, d$images, type = "prob")
  expect_gt(mean(predict(fit, d$images, type = "class") == d$label), 0.9)
  flat <- rows_of_images(d$images)
  for (other in list(
    image_fit(raw_like(d$images), d$label),
    image_fit(flat, d$label, image = c(9, 8, 2)),
    image_fit(raw_like(flat), d$label, image = c(9, 8, 2))
  )) {
    expect_identical(predict(other, d$images, type = "prob"), p)
    expect_identical(predict(other, raw_like(d$images), type = "prob"), p)
    expect_identical(predict(other, flat, type = "prob"), p)
    expect_identical(mean(bdl_handles(other)$posterior), mean(bdl_handles(fit)$posterior))
  }
  expect_identical(predict(fit, type = "prob"), p)
})

test_that("channels are standardised each", {
  d <- bars()
  model <- bdl_handles(image_fit(raw_like(d$images), d$label))$model
  of <- bdl_model_get_standardization(model, c(1, 144), c(1, 144), c(1, 1), c(1, 1))
  expect_equal(unique(as.vector(of$input_mean)), c(mean(d$images[, , , 1]), mean(d$images[, , , 2])))
})

test_that("images of one channel need no fourth dimension", {
  d <- bars()
  grey <- d$images[, , , 1]
  fit <- image_fit(grey, d$label)
  dim(grey) <- c(dim(grey), 1)
  expect_identical(predict(fit, grey, type = "prob"), predict(image_fit(grey, d$label), type = "prob"))
  named <- grey
  dimnames(named) <- list(paste0("i", 1:60), NULL, NULL, NULL)
  expect_identical(rownames(predict(fit, named[1:3, , , , drop = FALSE], type = "prob")), c("i1", "i2", "i3"))
})

test_that("networks are names, layers or whole descriptions", {
  d <- bars()
  large <- d$images[, c(1:9, 1:9), c(1:8, 1:8), ]
  fit <- function(network, x = large, ...) hushed(bdl(x, d$label, network = network, epochs = 1, samples = 2, seed = 1, verbose = FALSE, ...))
  lenet <- fit("lenet5")
  expect_identical(lenet$parameters, 6 * 51 + 16 * 151 + 120 * 17 + 84 * 121 + 85)
  expect_output(print(lenet), "network of lenet5 for 18 x 16 pixels and 2 channels")
  expect_output(print(summary(lenet)), "Prior precision")
  whole <- fit(c("input 2 18 16", "conv 2 3", "tanh", "globalavgpool", "dense 1"))
  expect_identical(predict(whole, type = "prob"), predict(fit("conv 2 3; tanh; globalavgpool"), type = "prob"))
  expect_identical(length(coef(whole)), as.integer(2 * 19 + 3))
  expect_error(fit("lenet"), 'did you mean "lenet5"', class = "bdl_error_invalid_argument")
  expect_error(fit("lenet5", large[, 1:9, , ]), "line 5 of the description", class = "bdl_error_invalid_argument")
  expect_error(fit("lenet5", matrix(0, 60, 9)), 'network "lenet5" is for images', class = "bdl_error_invalid_argument")
  expect_error(fit("input 2 18 16; dense 3"), 'has "input 2 18 16" and 3 outputs, the data need "input 2 18 16" and 1', class = "bdl_error_invalid_argument")
  expect_error(fit("input 2 16 18; dense 1"), 'has "input 2 16 18" and', class = "bdl_error_invalid_argument")
  pixel <- array(runif(120), c(60, 1, 1, 2))
  features <- fit("dense 4; relu", pixel)
  expect_identical(predict(features, pixel), predict(fit("dense 4; relu", matrix(pixel, 60)), matrix(pixel, 60)))
  expect_error(fit("lenet5", hidden = 3), "hidden or activation", class = "bdl_error_invalid_argument")
  expect_error(fit("lenet5", large, image = 3), NA)
  expect_error(fit(layers, matrix(0, 60, 9), image = 3), "image must be c\\(rows, columns, channels\\)")
  expect_error(fit(layers, matrix(0, 60, 9), image = c(3, 3, 2)), "x has 9 columns")
  expect_error(fit(layers, array(0, c(60, 2, 2, 2, 2))), "5 dimensions")
  expect_error(bdl(large[, , 1, 1], d$label, image = c(18, 1, 1)), "image is for a network")
  expect_error(predict(lenet, large[, 1:9, , ]), "newdata has images of 9 x 16 pixels", class = "bdl_error_invalid_argument")
})

test_that("fits of images survive saveRDS", {
  d <- bars()
  fit <- image_fit(raw_like(d$images), d$label)
  file <- tempfile(fileext = ".rds")
  saveRDS(fit, file)
  again <- readRDS(file)
  expect_identical(predict(again, d$images, type = "prob"), predict(fit, type = "prob"))
})

test_that("numbers of images are regressed on", {
  d <- bars()
  y <- apply(d$images[, , , 2], 1, mean)
  fit <- hushed(bdl(raw_like(d$images), y, network = "conv 4 3; relu", seed = 1, epochs = 60, samples = 10, verbose = FALSE))
  expect_gt(cor(predict(fit, d$images), y), 0.9)
  spread <- hushed(bdl(d$images, y, network = "conv 2 3; relu", noise = "heteroscedastic", seed = 1, epochs = 2, verbose = FALSE))
  expect_identical(dim(predict(spread, d$images, interval = "prediction")), c(60L, 3L))
})

test_that("published networks are listed", {
  table <- bdl_networks()
  expect_identical(table$name, c("lenet5", "alexnet", "resnet18", "resnet18-cifar"))
  counts <- vapply(seq_len(nrow(table)), function(i) {
    text <- with(table[i, ], bdl_network_description(name, channels, rows, columns, outputs))
    bdl_model_parameters(bdl_network(text, "categorical", "single"))
  }, 0)
  expect_identical(counts, c(44426, 2472266, 11181642, 11173962))
})
