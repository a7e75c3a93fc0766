# Generalised linear models against R's own on data that come with R: Rscript experiments/glm/against_r.R
# For each model: the largest difference of a coefficient in R's standard errors under a nearly flat prior, the largest
# relative difference of a standard error there, and the largest difference of a coefficient under the default prior.
suppressMessages({
  library(bdl)
  library(MASS)
})
options(warn = 1, width = 120)
flat <- list(prior_precision = 1e-8)
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

# The factor Survived: R's glm() models the second level, and so does bdl_glm().
row_of <- function(model) {
  right <- coef(model[[2]])
  se <- sqrt(diag(vcov(model[[2]])))
  f <- model[[3]](flat)
  d <- model[[3]](list())
  order <- match(names(right), names(coef(f)))
  bdl_se <- sqrt(diag(vcov(f)))[order]
  data.frame(model = model[[1]], flat = max(abs(coef(f)[order] - right) / se), se = max(abs(bdl_se / se - 1)),
             default = max(abs(coef(d)[order] - right) / se))
}

result <- do.call(rbind, lapply(models, row_of))
print(format(result, digits = 2), row.names = FALSE)
