# What the examples of docstrings begin with; the documentation shows the parts that a page needs.

# [data]
using BDL, LinearAlgebra, Random, Statistics
Random.seed!(1)
inputs, resistance = load_yacht()
X, y = inputs[1:4:end, :], resistance[1:4:end]             # 77 rows
Xtest, ytest = inputs[3:16:end, :], resistance[3:16:end];  # 20 rows
# [data]

# [parts]
model = standardize!(Model((6, 4, 1)), X, y)
q = Posterior(model; rank = 2)
optimizer = Optimizer(model, q, length(y))
fit!(optimizer, X, y; epochs = 50);
# [parts]

# [linear]
m = fit(BayesianGLM, X, y; progress = false);
# [linear]

# [network]
m = fit(BayesianMLP, X, y; hidden = (10,), progress = false);
# [network]

# [classifier]
level = ifelse.(y .> 5, "high", "low")
classifier = fit(BayesianMLP, X, level; hidden = (4,), progress = false);
# [classifier]

# [search]
search = Search(optimizer; folds = 2, epochs = 10)
vary!(search, :samples, 1, 3)
run!(search, X, y; random = 1, bayesian = 0);
# [search]
