# How unlike the training rows a row is.

quick(X, y; settings...) = fit(BayesianMLP, X, y; hidden = (6,), epochs = 15, samples = 20, progress = false, settings...)

let m = quick(X, y), new = 3 .* randn(5, 3)
    leverages, left_out = predict_leverage(m.model, m.posterior, X)
    @test novelty(m, new) ≈ predict_leverage(m.model, m.posterior, new).leverage ./ mean(leverages)
    @test mean(novelty(m, X)) ≈ 1
    @test novelty_limit(m) ≈ quantile(left_out, 0.95) / mean(leverages)
    @test all(novelty(m, X .+ 30) .> novelty_limit(m; false_alarms = 0.01))
    @test novelty(through_bytes(m), new) == novelty(m, new)
    @test novelty(learn_novelty!(m, X), new) ≈ novelty(m, new)
    @test_throws InvalidArgumentError novelty_limit(m; false_alarms = 0)
    fit!(m, X, y; epochs = 1, progress = false)
    @test mean(novelty(m, X)) ≈ 1
    m.leverages = BDL.no_leverages()
    @test_throws UnsupportedError novelty(m, X)
    @test mean(novelty(learn_novelty!(m, Dataset(X, y)), X)) ≈ 1
end

# Ensembles have the mean of their members' leverages.
let m = quick(X, y; members = 2), members = [m; m.others]
    leverages = predict_leverage([p.model for p in members], [p.posterior for p in members], X).leverage
    @test leverages ≈ mean(predict_leverage(p.model, p.posterior, X).leverage for p in members)
    @test novelty(m, X) ≈ leverages ./ mean(leverages)
    single = [quick(X, y; seed = j) for j in 1:2]
    @test novelty(single, X) ≈ novelty(m, X)
    @test novelty_limit(single) ≈ novelty_limit(m)
end

# At most 500 rows, of data sets and of classes too; of a stream that goes on, the last 100.
let Z = randn(700, 2), z = Z[:, 1] .> 0, kept = [(k * 700) ÷ 500 + 1 for k in 0:499]
    for m in (quick(Z, z), fit(BayesianMLP, Dataset(Z, Float64.(z)); likelihood = :bernoulli, hidden = (6,), epochs = 5, progress = false))
        @test size(m.leverages) == (500, 2) && mean(novelty(m, Z[kept, :])) ≈ 1
    end
    stream = quick(Z[1:300, :], Z[1:300, 1]; method = "lo-fi", epochs = 120)
    @test size(stream.leverages) == (300, 2)
    fit!(stream, Z[301:end, :], Z[301:end, 1]; progress = false)
    @test size(stream.leverages) == (100, 2) && mean(novelty(stream, Z[601:end, :])) ≈ 1
end

# Without a covariance there is none.
for (settings, message) in (((method = "map",), "finds a point"), ((posterior = :dropout,), "a dropout posterior has no covariance"))
    m = quick(X, y; settings...)
    for ask in (() -> novelty(m, X), () -> novelty_limit(m), () -> learn_novelty!(m, X))
        e = try
            ask()
        catch e
            e
        end
        @test e isa UnsupportedError && occursin(message, e.message)
    end
end
