# What a posterior can be asked: intervals and samples of means and links, log likelihoods, WAIC and LOO, contrasts.

let counts = round.(Int, abs.(y)), labels = y .> mean(y)
    design = hcat(ones(size(X, 1)), X)
    for (family, targets, inverse) in ((:gaussian, y, identity), (:bernoulli, labels, f -> 1 / (1 + exp(-f))), (:poisson, counts, exp))
        m = fit(BayesianGLM, X, targets; family = family, progress = false)
        f, s = design * coef(m), sqrt.(diag(design * vcov(m) * design'))
        z = BDL.standard_quantile(0.975, BDL.coefficient_degrees(m)[1])
        @test (z > 1.96) == (family === :gaussian)
        link = predict(m, X; kind = :link, interval = 0.95)
        @test link.mean ≈ f && link.lower ≈ f .- z .* s && link.upper ≈ f .+ z .* s
        @test predict(m, X; interval = 0.95, of = :link) == link && predict(m, X; kind = :link) == link.mean
        found = predict(m, X; interval = 0.95, of = :mean)
        @test found.lower ≈ inverse.(f .- z .* s) && found.upper ≈ inverse.(f .+ z .* s)
        @test predict(m, X; kind = :quantile, of = :mean, levels = [0.025])[:, 1] ≈ found.lower
        draws = predict(m, X; kind = :draws, of = :link, samples = 4000)  # 5 standard errors: 6e-7 for each row
        @test all(abs.(vec(mean(draws; dims = 2)) .- f) .< 5 .* s ./ sqrt(4000))
        coefficients = sample_coefficients(m, 4000)
        @test size(coefficients) == (4000, 4)
        @test all(abs.(vec(mean(coefficients; dims = 1)) .- coef(m)) .< 5 .* stderror(m) ./ sqrt(4000))
        logs = predict_log_likelihood(m, X, targets; samples = 3000)
        @test size(logs) == (3000, size(X, 1))
        a, b = loo(m, X, targets), waic(m, X, targets)
        @test abs(a.elpd - b.elpd) < 1 && 0 < a.effective_parameters < 8 && a.elpd ≈ sum(a.pointwise[:, 1])
        @test length(a.pareto_k) == size(X, 1)
    end
    classifier = fit(BayesianGLM, X, labels; family = :bernoulli, progress = false)
    found = predict(classifier, X; kind = :prob, interval = 0.9)
    @test size(found.lower) == (size(X, 1), 2) && all(found.lower .< found.prob .< found.upper)
    @test found.lower[:, 1] ≈ 1 .- found.upper[:, 2]
    @test_throws UnsupportedError predict(classifier, X; interval = 0.9)
    @test_throws InvalidArgumentError predict(classifier, X; kind = :class, interval = 0.9)
    @test_throws InvalidArgumentError predict(classifier, X; interval = 0.9, of = :median)
    @test_throws InvalidArgumentError predict_interval(classifier.model, classifier.posterior, X, 90; of = :mean)
    @test_throws UnsupportedError coef(classifier; base = true)
end

# Contrasts with a base class.
let labels = [v < 0 ? "no" : v < 1 ? "so" : "yes" for v in y]
    m = fit(BayesianGLM, X, labels; family = :categorical, epochs = 20, progress = false)
    all_classes, V = reshape(coef(m), 4, 3), vcov(m)
    @test coef(m; base = "so") ≈ vec(all_classes[:, [1, 3]] .- all_classes[:, 2])
    D = [I(4) -I(4) zeros(4, 4); zeros(4, 4) -I(4) I(4)]
    @test vcov(m; base = "so") ≈ D * V * D' && stderror(m; base = "so") ≈ sqrt.(diag(D * V * D'))
    @test size(confint(m; base = "so")) == (8, 2) && length(coefnames(m; base = "so")) == 8
    @test coefnames(m; base = "no")[1] == "so: (Intercept)"
    @test sample_coefficients(m, 5; base = "so") ≈ sample_coefficients(m, 5) * D'
    @test_throws InvalidArgumentError coef(m; base = "other")
    found = predict(m, X; kind = :prob, interval = 0.9)
    @test all(found.lower .< found.prob .< found.upper)
end

# Points have no spread; the members of an ensemble do.
let point = fit(BayesianGLM, X, y; method = "map", epochs = 5, progress = false)
    @test_throws UnsupportedError predict(point, X; interval = 0.9, of = :mean)
    @test_throws UnsupportedError loo(point, X, y)
    ensemble = fit(BayesianMLP, X, y; hidden = (4,), epochs = 5, members = 2, progress = false)
    found = predict(ensemble, X; interval = 0.9, of = :mean)
    @test all(found.lower .< found.upper)
    @test size(predict_log_likelihood(ensemble, X, y; samples = 6)) == (12, size(X, 1))
end

# A model of numbers computed by the published formulas (tests/predict/test_leave_one_out.cpp has more).
let logs = [-0.5 * (0.1 * s)^2 * i for s in -40:40, i in 1:3]
    found = waic(logs)
    @test found.pointwise[:, 2] ≈ [var(logs[:, i]) for i in 1:3] && isinf(loo(logs[1:20, :]).pareto_k[1])
    @test_throws ShapeError loo(logs[1:1, :])
end
