library(testthat)
library(bdl)

test_check("bdl")
