# As defaults.py, in Julia.
using BDL, Logging, Printf

disable_logging(Logging.Warn)

const I = 1:30
const X = hcat(mod.(7 .* I, 11) .- 5, mod.(3 .* I, 7) .- 3) ./ 4
const Y = 2 .* X[:, 1] .- X[:, 2] .+ (mod.(5 .* I, 9) .- 4) ./ 16
const TWO = ifelse.(Y .> 0, "b", "a")
const THREE = ifelse.(Y .> 1, "c", TWO)
const COUNTS = mod.(3 .* I, 5)
const BOTH = hcat(Y, 10 .* X[:, 2] .+ Y ./ 2)
const PIXELS = [UInt8((17 * i + 29 * row + 43 * column + 101 * channel + i * row * column) % 256)
                for row in 0:5, column in 0:4, channel in 0:1, i in I]

images(targets) = fit(BayesianConv, PIXELS, targets; network = "conv 3 3; relu; maxpool 2", progress = false)
layers(network, targets) = fit(BayesianConv, X, targets; network = network, method = "vogn", progress = false)
network(targets; settings...) = fit(BayesianMLP, X, targets; progress = false, settings...)
linear(family, targets; settings...) = fit(BayesianGLM, X, targets; family = family, progress = false, settings...)

const CASES = [
    "regression" => () -> network(Y),
    "targets" => () -> network(BOTH),
    "two classes" => () -> network(TWO),
    "three classes" => () -> network(THREE),
    "gaussian" => () -> network(Y; noise = :gaussian),
    "heteroscedastic" => () -> network(Y; noise = :heteroscedastic),
    "student_t" => () -> network(Y; noise = :student_t),
    "outlier" => () -> network([1e5; Y[2:end]]),
    "mc-dropout" => () -> network(Y; method = "mc-dropout"),
    "vogn" => () -> network(Y; method = "vogn"),
    "laplace" => () -> network(THREE; method = "laplace"),
    "lo-fi" => () -> network(Y; method = "lo-fi"),
    "images" => () -> images(THREE),
    "numbers of images" => () -> images(Y),
    "batch norm" => () -> layers("dense 4; batchnorm; relu", Y),
    "whole network" => () -> layers("input 2; dense 4; relu; dense 1", Y),
    "linear" => () -> linear(:gaussian, Y),
    "linear targets" => () -> linear(:gaussian, BOTH),
    "counts" => () -> linear(:poisson, COUNTS),
    "logistic" => () -> linear(:bernoulli, TWO),
    "softmax" => () -> linear(:categorical, THREE),
    "linear bbb" => () -> linear(:gaussian, Y; method = "bbb"),
    "linear stream" => () -> linear(:gaussian, Y; method = "cm-ekf"),
    "count stream" => () -> linear(:poisson, COUNTS; method = "lo-fi"),
]

value_text(value) = value isa Real ? @sprintf("%.15g", value) : String(value)

for (name, train) in CASES
    m = train()
    optimizer, q = m.optimizer, m.posterior
    println("case ", name)
    println("likelihood ", likelihood(m.model))
    println("method ", method(optimizer), " posterior ", family(q), " ", rank(q), " steps ", progress(optimizer).step)
    family(q) === :dropout && println("rates ", join((@sprintf("%.15g", rate) for rate in values(dropout_rates(q))), " "))
    for row in options(optimizer)
        println(row.name, " ", value_text(row.value))
    end
    kind = likelihood(m.model) in (:bernoulli, :categorical) ? :prob : :mean
    some = ninputs(m.model) > 2 ? PIXELS[:, :, :, 1:3] : X[1:3, :]
    mean = predict(m, some; kind = kind)
    println("predictions ", join((@sprintf("%.12g", value) for value in vec(permutedims(mean))), " "))
    family(q) === :dropout || println("novelty ", join((@sprintf("%.10g", value) for value in [novelty_limit(m); novelty(m, some)]), " "))
end
