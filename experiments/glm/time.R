# Seconds of default fits beside those of R: Rscript time.R ROWS prints a table of Markdown. Times are the best of three.
suppressMessages({
  library(bdl)
  library(MASS)
})
n <- as.integer(commandArgs(TRUE)[1])
p <- 20
set.seed(1)
x <- matrix(rnorm(n * p), n)
eta <- drop(x %*% rnorm(p)) / 5
data <- data.frame(x)

best <- function(fit) min(replicate(3, system.time(fit())[["elapsed"]]))
row <- function(name, peer, ours) {
  times <- c(best(peer), best(ours))
  cat("|", paste(c(name, sprintf("%.2f", c(times, times[2] / times[1]))), collapse = " | "), "|\n")
}
compare <- function(name, y, family, peer) {
  data$y <- y
  row(name, function() peer(data), function() bdl_glm(y ~ ., data, family = family, seed = 1))
}
glm_of <- function(family) function(data) glm(y ~ ., family, data)

cat("| model | seconds of R | libbdl | ratio |\n| --- | --- | --- | --- |\n")
compare("gaussian, glm", eta + rnorm(n), gaussian, glm_of(gaussian))
compare("bernoulli, glm", rbinom(n, 1, plogis(eta)), binomial, glm_of(binomial))
compare("poisson, glm", rpois(n, exp(eta / 2)), poisson, glm_of(poisson))
compare("probit, glm", rbinom(n, 1, pnorm(eta)), binomial("probit"), glm_of(binomial("probit")))
compare("Gamma, glm", rgamma(n, 3, 3 / exp(eta)), Gamma("log"), glm_of(Gamma("log")))
compare("negative binomial, glm.nb", rnbinom(n, size = 2, mu = exp(eta)), "negative_binomial",
        function(data) glm.nb(y ~ ., data))
compare("ordinal, polr", cut(eta + rlogis(n), c(-Inf, -1, 0, 1, Inf), ordered_result = TRUE), "ordinal",
        function(data) polr(y ~ ., data, Hess = TRUE))

few <- n / 5
groups <- data.frame(y = rnorm(few), group = factor(sample(min(300, few / 10), few, TRUE)))
row("gaussian, a factor of 300 levels, lm", function() lm(y ~ group, groups), function() bdl_glm(y ~ group, groups, seed = 1))
