# Small data and handles that several tests use.

Random.seed!(1)
const X = randn(60, 3)
const y = X * [1.0, -2.0, 0.5] .+ 0.3 .+ 0.1 .* randn(60)

"A small trained optimizer of a network."
function small_optimizer(; steps = 3, options...)
    model = Model((3, 4, 1))
    optimizer = Optimizer(model, Posterior(model; rank = 2), "slang-ggn", 60; options...)
    foreach(_ -> step!(optimizer, X, y), 1:steps)
    return optimizer
end

"A linear function as a model of one's own."
linear_outputs(theta, X) = X * theta
linear_gradients(theta, X, G) = G .* X
own_linear_model() = Model(linear_outputs, linear_gradients; inputs = 3, parameters = 3)

read_numbers(path) = mapreduce(line -> parse.(Float64, split(line, ','))', vcat, eachline(path))

"The yacht data's first published split: X and y of the training rows, then of the test rows."
function yacht()
    data = read_numbers(joinpath(DATA, "yacht.csv"))
    test = Int.(vec(read_numbers(joinpath(DATA, "yacht_test_rows.csv"))[1:1, :])) .+ 1
    train = setdiff(1:size(data, 1), test)
    return data[train, 1:6], data[train, 7], data[test, 1:6], data[test, 7]
end
