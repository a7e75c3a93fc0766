# Images: every way of holding them gives the same numbers, and what does not fit is said.

"Images (rows, columns, channels, n) of bytes with a bar across or down in the first channel, and their labels."
function bars(n = 60)
    rng = MersenneTwister(5)
    images = rand(rng, 0x00:0x50, 9, 8, 2, n)
    half = div(n, 2)
    images[5, :, 1, 1:half] .= 0xfa
    images[:, 5, 1, half+1:n] .= 0xfa
    return images, repeat([:across, :down]; inner = half)
end

const QUICK = (network = "conv 4 3; relu; maxpool 2", epochs = 20, samples = 10, progress = false)

let (images, labels) = bars()
    m = fit(BayesianConv, images, labels; QUICK...)
    p = predict(m, images; kind = :prob)
    @test score(m, images, labels) > 0.9 && classes(m) == [:across, :down] && dtype(m.model) == Float32
    @test occursin("input 2 9 8\nconv 4 3", description(m.model))
    input_mean = standardization(m.model).input_mean
    @test unique(input_mean) ≈ [mean(images[:, :, 1, :]), mean(images[:, :, 2, :])]
    @test repr(m) == "BayesianConv(images of 9 x 8 pixels and 2 channels to 1 outputs, bernoulli, 60 examples)"
    @test occursin("diagnosis", sprint(show, MIME("text/plain"), m)) && loglikelihood(m, images, labels) < 0

    # Rows as the library has them, channel by channel and row by row; and Flux's order.
    flat = permutedims(reshape(permutedims(images, (2, 1, 3, 4)), :, 60))
    turned = permutedims(images, (2, 1, 3, 4))
    for (X, how) in ((flat, (image = (9, 8, 2),)), (turned, (layout = :whcn,)), (Float64.(images), ()), (Float32.(images), ()),
        (view(cat(images, images; dims = 4), :, :, :, 1:60), ()), (Int.(images), ()))
        other = fit(BayesianConv, X, labels; QUICK..., how...)
        @test mean(other.posterior) == mean(m.posterior)
        @test predict(other, X; kind = :prob) == p && predict(other, flat; kind = :prob) == p
    end
    address = UInt(pointer(turned))
    @test UInt(BDL.look(BDL.image_rows(turned, :whcn)).matrix.data) == address  # no copy

    others = (deepcopy(m), through_bytes(m))
    foreach(m -> fit!(m, images, labels; epochs = 1, progress = false), (m, others...))
    @test all(other -> predict(other, images; kind = :prob) == predict(m, images; kind = :prob), others)

    @test_throws ShapeError predict(m, images[1:8, :, :, :])
    @test_throws ShapeError predict(m, images[:, :, 1, :])
    @test_throws ShapeError fit!(m, permutedims(images, (2, 1, 3, 4)), labels; progress = false)
    @test_throws InvalidArgumentError BayesianConv(; layout = :nchw)
end

# One channel needs no third dimension; networks are names, layers or whole descriptions.
let (images, labels) = bars()
    grey = images[:, :, 1, :]
    m = fit(BayesianConv, grey, labels; QUICK...)
    @test predict(m, reshape(grey, 9, 8, 1, 60); kind = :prob) == predict(m, grey; kind = :prob)
    large, short = repeat(grey, 2, 2, 1), (epochs = 1, samples = 2, progress = false)
    @test nparameters(fit(BayesianConv, large, labels; short...).model) == 6 * 26 + 16 * 151 + 120 * 17 + 84 * 121 + 85
    whole = fit(BayesianConv, large, labels; network = ["input 1 18 16", "conv 2 3", "tanh", "globalavgpool", "dense 1"], short...)
    lines = fit(BayesianConv, large, labels; network = "conv 2 3; tanh; globalavgpool", short...)
    @test predict(whole, large; kind = :prob) == predict(lines, large; kind = :prob)
    for (error, network, X) in ((InvalidArgumentError, "lenet", large), (InvalidArgumentError, "lenet5", grey),
        (InvalidArgumentError, "lenet5", zeros(60, 9)), (ShapeError, "input 1 18 16; dense 2", large),
        (ShapeError, "input 1 16 18; dense 1", large))
        @test_throws error fit(BayesianConv, X, labels; network = network, short...)
    end
    numbers = vec(mean(large; dims = (1, 2)))
    spread = fit(BayesianConv, large, numbers; network = "conv 2 3; relu", noise = :heteroscedastic, short...)
    @test size(predict(spread, large)) == (60,) && noutputs(spread.model) == 2
    features = fit(BayesianConv, X, y; network = "dense 4; tanh", short...)
    @test predict(features, reshape(permutedims(X), 1, 1, 3, 60)) == predict(features, X)
    @test size(predict(features, X)) == (60,) && startswith(description(features.model), "input 3\n")
end

# Published networks.
let counts = Dict("lenet5" => 44426, "alexnet" => 2472266, "resnet18" => 11181642, "resnet18-cifar" => 11173962)
    @test Dict(n.name => nparameters(Model(network_description(n.name); likelihood = :categorical, dtype = Float32))
               for n in networks()) == counts
    @test startswith(network_description("lenet5"; channels = 3, rows = 32, columns = 30), "input 3 32 30\n")
    @test_throws InvalidArgumentError network_description("lenet")
    @test_throws InvalidArgumentError network_description("lenet5"; classes = 3)
end
