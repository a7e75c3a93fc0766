# A linear Gaussian model has a posterior in closed form.
let model = Model((3, 1); bias = false), q = Posterior(model; family = :full)
    set_noise!(model; sd = 0.1)
    optimizer = Optimizer(model, q, "exact-full", 60; learn_prior = 0, learn_noise = false, prior_precision = 2)
    fit!(optimizer, X, y; epochs = 100)
    precision = 100 .* X'X + 2I
    @test cov(q) ≈ inv(precision)
    @test mean(q) ≈ precision \ (100 .* X'y)
    @test prior(optimizer) == [2, 2, 2]
    exact = elbo(optimizer, X, y; samples = 0)
    @test exact.elbo ≈ exact.expected_log_likelihood - exact.kl
    p = predict(model, q, X[1:5, :]; method = :quadrature)
    @test p.mean ≈ X[1:5, :] * mean(q)
    @test vec(p.epistemic_variance) ≈ diag(X[1:5, :] * cov(q) * X[1:5, :]')
    @test all(p.noise_variance .≈ 0.01)

    # A filter, one observation after the other.
    stream = set!(Posterior(model; family = :full); mean = zeros(3), precision = 2.0 * I(3))
    filter = Optimizer(model, stream, "ekf", 1)
    scores = observe!(filter, X, y)
    @test mean(stream) ≈ mean(q) && cov(stream) ≈ cov(q)
    @test prequential(filter).count == 60 && prequential(filter).log_density ≈ mean(scores)
    @test isnan(observe!(filter, X[1:1, :], [missing])[1])
    set_process_noise!(filter, 0.5)
    before = var(stream)
    forecast!(filter, 2)
    @test var(stream) ≈ before .+ 1
    set_process_noise!(filter, nothing)
    @test shortened_steps(filter) == 0
end

# Steps, options, diagnosis, rows without a model, Laplace.
let optimizer = small_optimizer(steps = 0; learning_rate = 0.05, seed = 4)
    @test method(optimizer) == "slang-ggn" && data_size(optimizer) == 60
    @test optimizer[:learning_rate] == 0.05 && optimizer[:seed] == 4 && optimizer["schedule"] == "cosine"
    set!(optimizer; schedule = :power, decay = 0.5, threads = 1.0)
    @test optimizer[:schedule] == "power" && optimizer[:threads] === 1
    table = options(optimizer)
    @test only(row for row in table if row.name === :decay).value == 0.5
    @test occursin("*power", sprint(show, MIME("text/plain"), table))
    @test memory(optimizer) > 0
    step!(optimizer, X, y)
    @test progress(optimizer).step == 1
    @test !isempty(diagnose(optimizer).message)
    fit!(optimizer, X, y; epochs = 100)
    @test isempty(diagnose(optimizer).message)
    @test running_elbo(optimizer).kl > 0
    initialize!(optimizer)
    @test progress(optimizer).step == 0
    set_prior!(optimizer, 3)
    @test all(==(3), prior(optimizer))
    laplace!(step!(optimizer, X, y), X, y)
end
let q = Posterior(3; rank = 1), optimizer = Optimizer(nothing, q, "slang", 60)
    step_rows!(optimizer, X)
    @test !isblank(q)
    @test mean(copy(optimizer).posterior) == mean(q)
end

# Predictions and scores.
let optimizer = small_optimizer(steps = 20), model = optimizer.model, q = optimizer.posterior
    quantiles = predict_quantiles(model, q, X, (0.05, 0.5, 0.95); samples = 20)
    bounds = predict_interval(model, q, X, 0.9; samples = 20)
    @test quantiles[:, [1, 3]] ≈ hcat(bounds...)
    @test 0 <= coverage(bounds.lower, bounds.upper, y) <= 1
    density = predict_log_density(model, q, X, y; samples = 20)
    @test log_predictive_density(density).mean ≈ mean(density)
    @test rmse(predict(model, q, X).mean, y) ≈ sqrt(mean(abs2, predict(model, q, X).mean .- y))
    draws = predict_draws(model, q, X, 50)
    @test size(draws) == (60, 50) && crps(draws, y) > 0
    f = predict_outputs(model, q, X)
    @test size(f.covariance) == (1, 1, 60) && f.mean ≈ evaluate(model, mean(q), X)
end
let model = Model((3, 2)), q = Posterior(model)
    quantiles = predict_quantiles(model, q, X, [0.1, 0.9]; samples = 3)
    bounds = predict_interval(model, q, X, 0.8; samples = 3)
    @test quantiles[:, :, 1] ≈ bounds.lower && quantiles[:, :, 2] ≈ bounds.upper
    @test size(predict_draws(model, q, X, 4)) == (60, 2, 4)
    f = predict_outputs(model, q, X)
    @test f.covariance[:, :, 7] ≈ f.covariance[:, :, 7]' && f.covariance[1, 1, 7] ≈ sum(abs2, X[7, :]) + 1
end
let model = Model((3, 3); likelihood = :categorical), q = Posterior(model), labels = rand(0:2, 60)
    p = predict_classes(model, q, X)
    @test all(sum(p.probabilities; dims = 2) .≈ 1) && size(p.entropy) == (60, 1)
    @test predict_classes(model, q, X; method = :linearized).mutual_information === nothing
    @test 0 <= accuracy(p.probabilities, labels) <= 1 && 0 <= ece(p.probabilities, labels) <= 1
    @test brier(p.probabilities, labels) ≈ mean(sum(abs2, p.probabilities .- (labels .== (0:2)'); dims = 2))
end
