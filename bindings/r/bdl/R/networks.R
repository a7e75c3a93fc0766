# Networks that are given by their layers, and images as their rows: channel by channel, row by row.

bdl_networks <- function() {
  table <- rows_of(bdl_network_count(), bdl_network_describe)
  table[c("name", "rows", "columns", "channels", "outputs", "doc", "source")]
}

# The fit's inputs and settings: for a network with `network`, images become rows. `image` is rows, columns and channels; NULL
# for features.
with_images <- function(x, settings) {
  settings$image <- image_shape(x, settings$image)
  list(x = image_rows(x, settings$image), settings = settings)
}

# Images of one pixel are features.
image_shape <- function(x, image) {
  shape <- dim(x)
  if (length(shape) > 4) {
    refuse("x has ", length(shape), " dimensions: images are arrays (n, rows, columns, channels)", call = sys.call(-3))
  }
  if (length(shape) > 2) image <- c(shape[-1], if (length(shape) == 3) 1)
  if (!is.null(image) && (!is.numeric(image) || length(image) != 3)) {
    refuse("image must be c(rows, columns, channels)", call = sys.call(-3))
  }
  if (!is.null(image) && any(image[1:2] != 1)) image
}

# A matrix holds rows already. Of arrays, raw ones stay so.
image_rows <- function(x, image, argument = "x") {
  if (length(dim(x)) < 3) {
    x <- as_inputs(x, argument)
    if (!is.null(image) && ncol(x) != prod(image)) {
      refuse(argument, " has ", ncol(x), " columns, images of ", shape_words(image), " have ", prod(image), call = sys.call(-3))
    }
    return(x)
  }
  shape <- image_shape(x, NULL)
  if (!identical(as.double(shape), as.double(image))) {
    refuse(argument, " has images of ", shape_words(shape), ", the fit those of ", shape_words(image), call = sys.call(-3))
  }
  rows <- aperm(array(x, c(dim(x), 1)[1:4]), c(1, 3, 2, 4))
  names <- dimnames(x)[[1]]
  as_inputs(matrix(rows, dim(x)[1], dimnames = if (!is.null(names)) list(names, NULL)), argument)
}

shape_words <- function(image) {
  if (is.null(image)) "features" else paste0(image[1], " x ", image[2], " pixels and ", image[3], " channels")
}

# The whole description, where `network` leaves out the ends or is a name.
network_text <- function(network, image, inputs, outputs) {
  text <- paste(network, collapse = "\n")
  words <- strsplit(trimws(text), "[[:space:];]+")[[1]]
  if (length(words) == 1 && !grepl(";", text, fixed = TRUE)) {
    if (is.null(image)) refuse('network "', words, '" is for images: x must be an array of them, or image be given', call = sys.call(-3))
    return(bdl_network_description(words, image[3], image[1], image[2], outputs))
  }
  if (is_whole(network)) return(text)
  paste0(input_line(image, inputs), "\n", text, "\ndense ", outputs)
}

# Whether `network` has its ends, and so a number of outputs.
is_whole <- function(network) grepl("^[[:space:];]*input[[:space:];]", paste(network, collapse = "\n"))

input_line <- function(image, inputs) {
  shape <- if (is.null(image)) inputs else image[c(3, 1, 2)]
  paste("input", paste(format(shape, trim = TRUE, scientific = FALSE), collapse = " "))
}

network_model <- function(settings, inputs, outputs, likelihood) {
  model <- bdl_network(network_text(settings$network, settings$image, inputs, outputs), likelihood, settings$dtype)
  wanted <- c(input_line(settings$image, inputs), paste(outputs, "outputs"))
  found <- c(sub("\n.*", "", bdl_model_description(model)), paste(bdl_model_outputs(model), "outputs"))
  if (any(found != wanted)) {
    refuse('the network has "', found[1], '" and ', found[2], ', the data need "', wanted[1], '" and ', wanted[2],
           call = sys.call(-2))
  }
  model
}

# "lenet5 for 28 x 28 pixels and 1 channels", or its layers with parameters.
network_words <- function(object) {
  network <- paste(object$settings$network, collapse = "; ")
  paste0(if (nchar(network) > 60) paste0(substr(network, 1, 57), "...") else network, " for ", shape_words(object$settings$image))
}

is_linear <- function(object) is.null(object$settings$network) && !length(object$settings$hidden)
