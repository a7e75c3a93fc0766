# Words for the library's enumerations.

activations <- c(identity = BDL_IDENTITY, relu = BDL_RELU, leaky_relu = BDL_LEAKY_RELU, elu = BDL_ELU,
                 gelu = BDL_GELU, tanh = BDL_TANH, sigmoid = BDL_SIGMOID, softplus = BDL_SOFTPLUS,
                 swish = BDL_SWISH)
likelihoods <- c(gaussian = BDL_GAUSSIAN, bernoulli = BDL_BERNOULLI, categorical = BDL_CATEGORICAL,
                 poisson = BDL_POISSON, heteroscedastic = BDL_HETEROSCEDASTIC,
                 student_t = BDL_STUDENT_T, probit = BDL_PROBIT, cloglog = BDL_CLOGLOG,
                 negative_binomial = BDL_NEGATIVE_BINOMIAL, gamma = BDL_GAMMA, ordinal = BDL_ORDINAL)
# Families of classes: of two, and of one of several, whose predictions have a column for each.
binary_families <- c("bernoulli", "probit", "cloglog")
choice_families <- c("categorical", "ordinal")
class_families <- c(binary_families, choice_families)
noises <- c(auto = NA, gaussian = BDL_GAUSSIAN, heteroscedastic = BDL_HETEROSCEDASTIC, student_t = BDL_STUDENT_T)
dtypes <- c(single = BDL_F32, double = BDL_F64)
posterior_families <- c(low_rank = BDL_LOW_RANK, full = BDL_FULL, full_moment = BDL_FULL_MOMENT,
                        diagonal_moment = BDL_DIAGONAL_MOMENT, dropout = BDL_DROPOUT,
                        layerwise_full = BDL_LAYERWISE_FULL, low_rank_moment = BDL_LOW_RANK_MOMENT,
                        layerwise_low_rank_moment = BDL_LAYERWISE_LOW_RANK_MOMENT, kronecker = BDL_KRONECKER)
prediction_methods <- c(monte_carlo = BDL_MONTE_CARLO, plug_in = BDL_PLUG_IN, quadrature = BDL_QUADRATURE,
                        linearized_monte_carlo = BDL_LINEARIZED_MONTE_CARLO, linearized = BDL_LINEARIZED,
                        local_monte_carlo = BDL_LOCAL_MONTE_CARLO)
quantities <- c(y = BDL_QUANTITY_Y, mean = BDL_QUANTITY_MEAN, link = BDL_QUANTITY_LINK)
scales <- c(linear = BDL_SCALE_LINEAR, log = BDL_SCALE_LOG)

# The number of a word. `up` counts frames up to the function that the user called.
number_of <- function(word, table, argument, up = 2) {
  if (!is.character(word) || length(word) != 1 || !word %in% names(table)) {
    refuse(argument, " must be one of ", paste0('"', names(table), '"', collapse = ", "),
           call = sys.call(-(up - 1)))
  }
  table[[word]]
}

word_of <- function(number, table) names(table)[match(number, table)]

# A double matrix, or a raw one as it is, one example per row; a plain vector is one column. Doubles are not copied.
as_inputs <- function(x, argument = "x") {
  if ((is.double(x) || is.raw(x)) && is.matrix(x) && !is.object(x)) return(x)
  if (is.data.frame(x)) x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) {
    refuse(argument, " must be numeric: a matrix, a data frame or a vector", call = sys.call(-1))
  }
  if (is.null(dim(x))) x <- matrix(x, ncol = 1, dimnames = list(names(x), NULL))
  if (storage.mode(x) != "double") storage.mode(x) <- "double"
  x
}

# Numbers that count from 1, before they are the library's.
check_numbers <- function(numbers, most, argument) {
  if (!is.numeric(numbers)) refuse(argument, " must be numbers from 1 to ", sprintf("%.0f", most), call = sys.call(-1))
  wrong <- which(is.na(numbers) | numbers < 1 | numbers > most)
  if (length(wrong)) {
    refuse(argument, " has ", format(numbers[wrong[1]]), if (most == 0) ", but there is none" else sprintf(", expected 1 to %.0f", most),
           call = sys.call(-1))
  }
}

# One whole number as the library takes it; which of them it accepts is for the library to say.
is_count <- function(n) is.numeric(n) && length(n) == 1 && is.finite(n) && n == floor(n) && n >= 0
