# Predictors give exactly the results of the functions, whatever happens to model and posterior.

same(a, b) = isequal(a, b)  # also of missing mutual information

for likelihood in (:gaussian, :heteroscedastic, :student_t, :bernoulli, :categorical, :poisson),
    method in (:monte_carlo, :plug_in, :linearized)

    model = Model((3, 4, 2); likelihood = likelihood)
    q = set!(Posterior(model; rank = 0); mean = 0.3 .* randn(nparameters(model)), diagonal = fill(20.0, nparameters(model)))
    how = (method = method, samples = 9, seed = 4)
    predictor = Predictor(model, q; how...)
    for rows in (1, 5, 2)
        x, y = randn(rows, 3), zeros(rows, ntargets(model))
        @test same(predict(predictor, x), predict(model, q, x; how...))
        @test same(predict_log_density(predictor, x, y), predict_log_density(model, q, x, y; how...))
        @test same(predict_outputs(predictor, x), predict_outputs(model, q, x))
        @test same(predict_leverage(predictor, x), predict_leverage(model, q, x))
        method === :plug_in || @test same(predict_draws(predictor, x), predict_draws(model, q, x, 9; method = method, seed = 4))
        if likelihood in (:bernoulli, :categorical)
            @test same(predict_classes(predictor, x), predict_classes(model, q, x; how...))
        else
            @test same(predict_quantiles(predictor, x, (0.1, 0.5)), predict_quantiles(model, q, x, (0.1, 0.5); how...))
            @test same(predict_interval(predictor, x, 0.8), predict_interval(model, q, x, 0.8; how...))
        end
    end
end

# A snapshot, which outlives model and posterior.
let model = Model((3, 4, 1)), q = set!(Posterior(model; rank = 0); mean = ones(21), diagonal = ones(21)), x = randn(1, 3)
    predictor = Predictor(model, q; samples = 9)
    before = predict(predictor, x)
    set!(q; mean = zeros(21), diagonal = fill(2.0, 21))
    set_noise!(model; sd = 3)
    @test predict(predictor, x) == before != predict(model, q, x; samples = 9)
    close(model), close(q)
    @test predict(predictor, x) == before
    @test sprint(show, predictor) == "Predictor(monte_carlo, 9 samples)"
    close(predictor)
    @test sprint(show, predictor) == "Predictor (closed)"
end

# A model of one's own lives as long as its predictor; one call at a time.
let refused = Any[], kept = Any[]
    outputs(theta, x) = begin
        isempty(kept) || push!(refused, try
            predict(kept[1], x)
        catch e
            e
        end)
        x * theta
    end
    push!(kept, Predictor(Model(outputs; inputs = 3, parameters = 3), Posterior(3; family = :full); samples = 2))
    GC.gc()
    @test all(isfinite, predict(kept[1], randn(4, 3)).mean)
    @test !isempty(refused) && all(e -> e isa InvalidArgumentError && occursin("in use", e.message), refused)
end

# Ensembles: the equal mixture; member j draws with seed + j - 1.
let J = 3, x = randn(5, 3)
    models = [Model((3, 4, 2)) for _ in 1:J]
    posteriors = [set!(Posterior(m; rank = 0); mean = 0.3 .* randn(nparameters(m)), diagonal = fill(20.0, nparameters(m))) for m in models]
    ensemble = Predictor(models, posteriors; samples = 9, seed = 4)
    @test sprint(show, ensemble) == "Predictor(monte_carlo, 9 samples, 3 members)"
    alone = [Predictor(models[j], posteriors[j]; samples = 9, seed = 3 + j) for j in 1:J]
    each, found = [predict(p, x) for p in alone], predict(ensemble, x)
    center = sum(p.mean for p in each) ./ J
    @test found.mean ≈ center rtol = 1e-12
    @test found.epistemic_variance ≈ sum(p.epistemic_variance .+ (p.mean .- center) .^ 2 for p in each) ./ J rtol = 1e-12
    draws = predict_draws(ensemble, x)
    @test size(draws) == (5, 2, 27) && draws[:, :, 10:18] == predict_draws(alone[2], x)
    @test_throws InvalidArgumentError Predictor(models, posteriors[1:2])
    @test_throws InvalidArgumentError Predictor(Model[], Posterior[])
    other = Model((2, 1))
    @test_throws ShapeError Predictor([models[1], other], [posteriors[1], Posterior(other; rank = 0)])
    close(models[1])
    @test_throws InvalidArgumentError Predictor(models, posteriors)
    @test predict(ensemble, x) == found
end

let made = [Model((theta, x) -> x * theta .+ j; inputs = 3, parameters = 3) for j in 1:2]
    ensemble = Predictor(made, [Posterior(3; family = :full) for _ in 1:2]; method = :plug_in)
    made = nothing
    GC.gc()
    @test only(predict(ensemble, ones(1, 3)).mean) == 1.5
end

# Outputs that are no classes have probability 0.
let model = Model((2, 4); likelihood = :categorical)
    @test classes(model) == 0:3
    @test classes(set_classes!(model, [3, 2])) == [2, 3]
    p = predict_classes(model, Posterior(model; rank = 0), randn(4, 2)).probabilities
    @test all(iszero, p[:, 1:2]) && all(sum(p; dims = 2) .≈ 1)
    @test_throws InvalidArgumentError set_classes!(model, [1, 1])
    @test_throws UnsupportedError set_classes!(Model((2, 1)), [0, 1])
    @test classes(set_classes!(model, nothing)) == 0:3
end

# A vector of fitted estimators is a deep ensemble.
let x = 4 .* rand(50, 1) .- 2, y = sin.(2 .* vec(x)) .+ 0.1 .* randn(50)
    members = [fit(BayesianMLP, x, y; hidden = (6,), epochs = 20, samples = 10, seed = j, progress = false) for j in 1:3]
    each = [predict(m, x; method = :plug_in) for m in members]
    center = sum(each) ./ 3
    p = predict(members, x; std = true, method = :plug_in)
    @test p.mean ≈ center rtol = 1e-12
    noise = sum(predict(m.model, m.posterior, x; method = :plug_in).noise_variance for m in members) ./ 3
    @test p.std ≈ sqrt.(vec(noise) .+ sum((e .- center) .^ 2 for e in each) ./ 3) rtol = 1e-12
    limits = predict(members, x; interval = 0.9)
    @test all(limits.lower .< limits.upper)
    @test size(predict(members, x; kind = :draws), 1) == 50 && size(predict(members, x; kind = :quantile), 1) == 50
    @test_throws InvalidArgumentError predict(typeof(members)(), x)
    labels = [v > 0 ? "high" : "low" for v in vec(x)]
    classifiers = [fit(BayesianMLP, x, labels; hidden = (4,), method = "map", epochs = 30, seed = j, progress = false) for j in 1:2]
    @test predict(classifiers, x; kind = :prob) ≈ sum(predict(m, x; kind = :prob) for m in classifiers) ./ 2 rtol = 1e-12
    @test mean(predict(classifiers, x) .== labels) > 0.9
    @test_throws InvalidArgumentError predict([members[1], classifiers[1]], x)
end
