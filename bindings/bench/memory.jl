# Measures what training on a large matrix adds to the memory: julia memory.jl [GIGABYTES].
using BDL, Printf, Random

gigabytes = isempty(ARGS) ? 1.0 : parse(Float64, ARGS[1])
columns = 100
rows = round(Int, gigabytes * 1e9 / 4 / columns)
X = randn!(Matrix{Float32}(undef, rows, columns))
y = X[:, 1] - X[:, 2]
model = Model((columns, 8, 1))
optimizer = Optimizer(model, Posterior(model; rank = 1), rows; minibatch = 2000)
step!(optimizer, X[1:10, :], y[1:10])  # compiles
standardize!(model, X, y)
peak() = Sys.maxrss() / 2^20
before = peak()
seconds = @elapsed fit!(optimizer, X, y; epochs = 1)
@printf("Julia:  %.2f GB of float, one epoch: %.1f MB more, %.1f s\n", sizeof(X) / 1e9, peak() - before, seconds)
