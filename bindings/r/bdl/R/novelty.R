# How unlike the rows of the data a row is: its leverage over the mean of theirs.

novelty_of <- function(object, x) {
  stats::setNames(mean_over(members_of(object), leverages_of, x)[, "leverage"] / usual_leverage(object), rownames(x))
}

bdl_novelty_limit <- function(object, false_alarms = 0.05) {
  if (!is.numeric(false_alarms) || length(false_alarms) != 1 || !isTRUE(false_alarms > 0 && false_alarms < 1)) {
    refuse("false_alarms must be a number between 0 and 1")
  }
  known <- known_leverages(object)
  weighted_quantile(known[, "left_out"], weights_in(known), 1 - false_alarms) / usual_leverage(object)
}

# Leverages of the data have the weights of rows as a third column.
weights_in <- function(known) if ("weight" %in% colnames(known)) known[, "weight"] else rep(1, nrow(known))

usual_leverage <- function(object) {
  known <- known_leverages(object)
  stats::weighted.mean(known[, "leverage"], weights_in(known))
}

# A quantile of values that stand there as often as their weights say; between two of them only for whole weights.
weighted_quantile <- function(values, weights, level) {
  order <- order(values)
  values <- unname(values[order])
  ends <- cumsum(weights[order])
  all <- ends[length(ends)]
  if (any(weights != round(weights))) return(values[min(which(ends >= level * all), length(values))])
  place <- level * (all - 1)
  at <- values[findInterval(c(floor(place), min(floor(place) + 1, all - 1)), ends) + 1]
  at[1] + (place - floor(place)) * (at[2] - at[1])
}

bdl_learn_novelty <- function(object, x, weights = NULL) {
  if (!inherits(object, c("bdl", "bdl_ensemble"))) refuse("object must be a fit of bdl() or an ensemble of them")
  members <- members_of(object)
  lapply(members, check_has_covariance)
  first <- members[[1]]
  if (!is_dataset(x)) x <- inputs_of(first, x, stats::na.fail)
  weights <- checked_weights(weights, rows_in(x))
  learn <- function(fit) learned_leverages(fit, x, weights)
  if (!is.null(object$members)) object$members <- lapply(members, learn) else object <- learn(object)
  object
}

members_of <- function(object) if (is.null(object$members)) list(object) else object$members

mean_over <- function(members, of, ...) Reduce(`+`, lapply(members, of, ...)) / length(members)

# Columns: as they are, and as if each row had been left out of the data.
leverages_of <- function(fit, x) {
  handles <- handles_of(fit)
  column <- c(nrow(x), 1)
  found <- bdl_predict_leverage(handles$model, handles$posterior, x, column, column)
  cbind(leverage = drop(found$leverage), left_out = drop(found$left_out))
}

# Those of the rows that are compared with: of an ensemble, the members' mean.
known_leverages <- function(object) {
  mean_over(members_of(object), function(fit) {
    check_has_covariance(fit)
    if (is.null(fit$leverages)) {
      refuse("novelty needs leverages of the data, which fits of large networks do not have: call bdl_learn_novelty()",
             kind = "unsupported", call = NULL)
    }
    fit$leverages
  })
}

check_has_covariance <- function(fit) {
  lack <- if (is_point(fit)) no_covariance(fit) else if (identical(fit$settings$rank, "dropout")) {
    'a dropout posterior has no covariance: method "laplace", or that by default, finds one'
  }
  if (!is.null(lack)) refuse("there is no novelty: ", lack, kind = "unsupported", call = NULL)
}

# A fit with the leverages of some of its rows, if it has a covariance and is small enough for them to take no time.
with_leverages <- function(fit, x, weights) {
  size <- fit$parameters * bdl_model_outputs(handles_of(fit)$model)^2
  if (is_point(fit) || identical(fit$settings$rank, "dropout") || size > bdl_default("novelty_numbers")) return(fit)
  learned_leverages(fit, x, weights)
}

# Leverages of rows at equal distances, as many as are kept; one of weight 0 counts as none.
learned_leverages <- function(fit, x, weights) {
  present <- if (!is.null(weights)) which(weights > 0)
  rows <- if (is.null(present)) rows_in(x) else length(present)
  count <- min(rows, bdl_default("novelty_rows"))
  numbers <- ((seq_len(count) - 1) * rows) %/% count + 1
  if (is_dataset(x)) {
    read <- bdl_read_rows(x, numbers)
    fit$leverages <- leverages_of(fit, read$x)
    if (isTRUE(attr(x, "rows_have")$weights)) fit$leverages <- cbind(fit$leverages, weight = read$y[, ncol(read$y)])
    return(fit)
  }
  if (!is.null(present)) numbers <- present[numbers]
  fit$leverages <- leverages_of(fit, x[numbers, , drop = FALSE])
  if (!is.null(weights)) fit$leverages <- cbind(fit$leverages, weight = weights[numbers])
  fit
}
