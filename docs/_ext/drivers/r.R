# Runs the blocks of a page in one session: a line of standard input names a file with code and the stem of its figures.

run_block <- function(path, stem) {
  figure <- paste0(stem, "-0.svg")
  grDevices::svg(figure, width = 6.4, height = 4)
  on.exit({
    grDevices::graphics.off()
    if (file.size(figure) < 700) unlink(figure) # nothing was drawn
  })
  withCallingHandlers(
    source(path, echo = FALSE, print.eval = TRUE, local = globalenv()),
    warning = function(w) {
      cat("Warning message:\n", conditionMessage(w), "\n", sep = "")
      invokeRestart("muffleWarning")
    },
    message = function(m) {
      cat(conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
}

options(width = 88)
input <- file("stdin")
open(input)
repeat {
  line <- readLines(input, n = 1)
  if (length(line) == 0) break
  words <- strsplit(line, " ", fixed = TRUE)[[1]]
  state <- tryCatch({
    run_block(words[1], words[2])
    "ok"
  }, error = function(e) {
    cat("Error: ", conditionMessage(e), "\n", sep = "")
    "failed"
  })
  cat("\001", state, "\n", sep = "")
  flush(stdout())
}
