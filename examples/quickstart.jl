# Quickstart: a Bayesian neural network on the yacht data (308 x 6), one published split, default options. Run it with
#   BDL_LIBRARY=build/release/lib/libbdl.so.0 julia --project=bindings/julia/BDL.jl examples/quickstart.jl
using BDL, Printf

read_numbers(path) = mapreduce(line -> parse.(Float64, split(line, ','))', vcat, eachline(path))

function show_progress(optimizer)
    epoch = round(Int, progress(optimizer).epoch)
    epoch % 20 == 0 || return nothing
    e = running_elbo(optimizer)
    @printf("epoch %3d  expected log likelihood %8.1f  KL %7.1f  ELBO %8.1f\n", epoch, e.expected_log_likelihood, e.kl,
        e.elbo)
    return nothing  # true would end training
end

data = read_numbers(joinpath(@__DIR__, "data", "yacht.csv"))
test = Int.(vec(read_numbers(joinpath(@__DIR__, "data", "yacht_test_rows.csv")))) .+ 1
train = setdiff(1:size(data, 1), test)
X, y, X_test, y_test = data[train, 1:6], data[train, 7], data[test, 1:6], data[test, 7]

m = fit(BayesianMLP, X, y; hidden = (50,), rank = 5, epochs = 100, progress = show_progress)

@printf("test RMSE %.3f  log likelihood %.3f  (in the target's units)\n", rmse(predict(m, X_test), y_test),
    loglikelihood(m, X_test, y_test) / length(y_test))
for percent in (50, 90, 95)
    p = predict(m, X_test; interval = percent / 100)
    @printf("%d %% intervals hold %.0f %% of the test targets\n", percent, 100 * coverage(p.lower, p.upper, y_test))
end
noise = sqrt.(predict(m.model, m.posterior, X_test; method = :linearized).noise_variance)
@printf("learned noise: standard deviations from %.3f to %.3f\n", minimum(noise), maximum(noise))
