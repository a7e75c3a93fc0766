# Handwritten digits, 14 x 14 bytes, by a Bayesian convolutional network. Run it with
#   BDL_LIBRARY=build/release/lib/libbdl.so.0 julia --project=bindings/julia/BDL.jl examples/digits.jl
using BDL, Printf, Statistics

data = reshape(read(joinpath(@__DIR__, "data", "digits.bin")), 197, 1500)  # columns of a label and an image
digits, images = data[1, :], reshape(data[2:end, :], 14, 14, 1, 1500)  # row by row in the file: columns come first
train, test = 1:1000, 1001:1500

m = fit(BayesianConv, images[:, :, :, train], digits[train]; network = "conv 8 3; relu; maxpool 2; conv 16 3; relu; maxpool 2",
    layout = :whcn, likelihood = :categorical)

p = predict(m, images[:, :, :, test]; kind = :prob)
right = predict(m, images[:, :, :, test]) .== digits[test]
sure = vec(-sum(p .* log.(max.(p, 1e-300)); dims = 2)) .< 0.5  # entropy in nats
@printf("test accuracy %.3f\n", mean(right))
@printf("sure of %.1f %% of the test images, right on %.1f %% of these\n", 100 * mean(sure), 100 * mean(right[sure]))
