# Generalised linear models against R's own, on data that come with R. Prints two tables of Markdown.
# Errors are R's standard errors; a flat prior has the precision 1e-8.
suppressMessages({
  library(bdl)
  library(MASS)
})
options(warn = 1, width = 120)
flat <- list(prior_precision = 1e-8, bias_prior_precision = 1e-8)
table_of <- function(x) as.data.frame(x, stringsAsFactors = TRUE)

gaussian_rows <- function(formula, data, weights = NULL) { # weights count rows: R's lm() of the rows written out
  rows <- if (is.null(weights)) seq_len(nrow(data)) else rep(seq_len(nrow(data)), weights)
  lm(formula, data[rows, ])
}

aq <- na.omit(airquality)
tt <- subset(table_of(Titanic), Freq > 0)
ucb <- table_of(UCBAdmissions)
mt <- transform(mtcars, count = rep(1:4, 8))
models <- list(
  list("cars", lm(dist ~ speed, cars), function(control) bdl_glm(dist ~ speed, cars, seed = 1, control = control)),
  list("swiss", lm(Fertility ~ ., swiss), function(control) bdl_glm(Fertility ~ ., swiss, seed = 1, control = control)),
  list("mtcars, weights", gaussian_rows(mpg ~ wt + hp, mt, mt$count),
       function(control) bdl_glm(mpg ~ wt + hp, mt, weights = count, seed = 1, control = control)),
  list("chickwts", lm(weight ~ feed, chickwts), function(control) bdl_glm(weight ~ feed, chickwts, seed = 1, control = control)),
  list("ToothGrowth", lm(len ~ supp * dose, ToothGrowth),
       function(control) bdl_glm(len ~ supp * dose, ToothGrowth, seed = 1, control = control)),
  list("airquality", lm(Ozone ~ Solar.R + Wind + Temp, aq),
       function(control) bdl_glm(Ozone ~ Solar.R + Wind + Temp, aq, seed = 1, control = control)),
  list("stackloss", lm(stack.loss ~ ., stackloss), function(control) bdl_glm(stack.loss ~ ., stackloss, seed = 1, control = control)),
  list("anorexia, offset", lm(Postwt ~ Prewt + Treat + offset(Prewt), anorexia),
       function(control) bdl_glm(Postwt ~ Prewt + Treat + offset(Prewt), anorexia, seed = 1, control = control)),
  list("warpbreaks", glm(breaks ~ wool * tension, poisson, warpbreaks),
       function(control) bdl_glm(breaks ~ wool * tension, warpbreaks, family = poisson, seed = 1, control = control)),
  list("InsectSprays", glm(count ~ spray, poisson, InsectSprays),
       function(control) bdl_glm(count ~ spray, InsectSprays, family = poisson, seed = 1, control = control)),
  list("Insurance, offset", glm(Claims ~ District + Group + Age + offset(log(Holders)), poisson, Insurance),
       function(control) bdl_glm(Claims ~ District + Group + Age + offset(log(Holders)), Insurance, family = poisson, seed = 1,
                                 control = control)),
  list("infert", glm(case ~ age + parity + spontaneous + induced, binomial, infert),
       function(control) bdl_glm(case ~ age + parity + spontaneous + induced, infert, family = binomial, seed = 1,
                                 control = control)),
  list("esoph, trials", glm(cbind(ncases, ncontrols) ~ agegp + unclass(alcgp), binomial, esoph),
       function(control) bdl_glm(cbind(ncases, ncontrols) ~ agegp + unclass(alcgp), esoph, family = binomial, seed = 1,
                                 control = control)),
  list("menarche, trials", glm(cbind(Menarche, Total - Menarche) ~ Age, binomial, menarche),
       function(control) bdl_glm(cbind(Menarche, Total - Menarche) ~ Age, menarche, family = binomial, seed = 1,
                                 control = control)),
  list("Titanic, weights", glm(Survived ~ Class + Sex + Age, binomial, tt, weights = Freq),
       function(control) bdl_glm(Survived ~ Class + Sex + Age, tt, family = binomial, weights = Freq, seed = 1,
                                 control = control)),
  list("UCBAdmissions, weights", glm(Admit ~ Gender + Dept, binomial, ucb, weights = Freq),
       function(control) bdl_glm(Admit ~ Gender + Dept, ucb, family = binomial, weights = Freq, seed = 1, control = control))
)

# Returns the row of a table for a model of R, and a function of control that fits the same by bdl.
row_of <- function(name, reference, fit, error = sqrt(diag(vcov(reference)))) {
  estimate <- coef(reference)
  of_flat <- fit(flat)
  of_default <- fit(list())
  shift <- function(f) max(abs(coef(f)[names(estimate)] - estimate) / error[names(estimate)])
  errors <- sqrt(diag(vcov(of_flat)))[names(estimate)]
  data.frame(model = name, flat = shift(of_flat), errors = max(abs(errors / error[names(estimate)] - 1)),
             default = shift(of_default))
}

print_table <- function(rows, titles) {
  cells <- cbind(rows[[1]], sapply(rows[-1], formatC, digits = 1, format = "e"))
  cat(paste("|", paste(titles, collapse = " | "), "|\n"), paste("|", paste(rep("---", ncol(cells)), collapse = " | "), "|\n"),
      paste("|", apply(cells, 1, paste, collapse = " | "), "|\n"), sep = "")
}

print_table(do.call(rbind, lapply(models, function(m) row_of(m[[1]], m[[2]], m[[3]]))),
            c("model", "coefficients, flat prior", "standard errors, flat prior", "coefficients, default prior"))

# Likelihoods that lm() and glm() do not have, and links. Copies of the rows make the posterior narrow: what then remains
# is no difference between a mean and a mode.
copies <- function(data, times) data[rep(seq_len(nrow(data)), times), ]
dispersed <- function(model) sqrt(diag(summary(model, dispersion = 1 / gamma.shape(model)$alpha)$cov.scaled))
expanded <- housing[rep(seq_len(72), housing$Freq), ]
fit_of <- function(formula, data, family) {
  function(control) bdl_glm(formula, data, family = family, seed = 1, control = control)
}
further <- function(times) {
  nb <- copies(quine, times)
  positive <- copies(warpbreaks, times)
  two <- copies(birthwt, times)
  levels <- copies(expanded, max(1, times %/% 10))
  by_link <- function(link) {
    formula <- low ~ age + lwt + factor(race) + smoke + ht + ui
    row_of(paste("birthwt,", link), glm(formula, binomial(link), two), fit_of(formula, two, binomial(link)))
  }
  ordered <- polr(Sat ~ Infl + Type + Cont, levels, Hess = TRUE)
  gamma <- glm(breaks ~ wool * tension, Gamma("log"), positive)
  do.call(rbind, list(
    row_of("quine, glm.nb", glm.nb(Days ~ Sex + Age + Eth + Lrn, nb), fit_of(Days ~ Sex + Age + Eth + Lrn, nb, "negative_binomial")),
    row_of("warpbreaks, Gamma", gamma, fit_of(breaks ~ wool * tension, positive, Gamma("log")), dispersed(gamma)),
    row_of("housing, polr", ordered, fit_of(Sat ~ Infl + Type + Cont, levels, "ordinal"),
           sqrt(diag(vcov(ordered)))[names(coef(ordered))]),
    by_link("logit"), by_link("probit"), by_link("cloglog")))
}
many <- if (identical(commandArgs(TRUE), "--quick")) 20 else 200
cat("\n")
print_table(cbind(further(1), further(many)[2:3]),
            c("model", "coefficients, flat", "standard errors, flat", "coefficients, default",
              sprintf("coefficients, rows %d times", many), "standard errors, the same"))
