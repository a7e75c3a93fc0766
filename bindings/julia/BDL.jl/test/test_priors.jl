# Posteriors as priors, and all that posteriors consist of.

function part(q, how, X, y, before)
    model = Model((size(X, 2), 1); bias = false)
    set_noise!(model; precision = 4)
    optimizer = Optimizer(model, q, how, size(X, 1); learn_prior = 0, learn_noise = 0)
    set_prior!(optimizer, before)
    if describe_method(how).stream
        optimizer[:block] = 0
        observe!(optimizer, X, y)
    else
        fit!(optimizer, X, y; epochs = 500)
    end
    return q
end

@testset "two parts, one after the other, are the whole" begin
    i = 0:19
    waves = [sin(1.3a * k + 0.4) for a in i, k in 1:3]
    signs = [iseven(count_ones(a & k)) ? 1.0 : -1.0 for a in i, k in 0:2]
    for (create, how) in ((() -> Posterior(3; family = :full), "exact-full"), (() -> Posterior((3,)), "exact-full"),
        (() -> Posterior(3; rank = 3), "lo-fi"), (() -> Posterior(3; rank = 0), "exact-diagonal"))
        X = how == "exact-diagonal" ? signs : waves
        y = cos.(0.9 .* i) .+ X[:, 2]
        before = part(create(), how, X[1:12, :], y[1:12], create())
        after = part(create(), how, X[13:end, :], y[13:end], before)
        precision = I + 4X' * X
        @test mean(after) ≈ precision \ (4X' * y) rtol = 0 atol = 1e-9
        @test cov(after) ≈ inv(Matrix(precision)) rtol = 0 atol = 1e-9
    end
end

@testset "an estimator is the prior of the next one" begin
    before = fit(BayesianGLM, X[1:40, :], y[1:40]; progress = false)
    after = fit(BayesianGLM, X[41:60, :], y[41:60]; prior = before, progress = false)
    @test standardization(after.model) == standardization(before.model)
    @test all(var(after.posterior) .< var(before.posterior))
    network = fit(BayesianMLP, X, y; hidden = (4,), posterior = :layerwise_full, epochs = 5, progress = false,
        prior = Posterior(21; rank = 2))
    @test family(network.posterior) === :layerwise_full
    @test_throws InvalidArgumentError fit(BayesianGLM, X, y; prior = 3, progress = false)
end

@testset "covariances of low rank plus diagonal" begin
    W, s = [1 0; 1 2; 0 0.5], [0.1, 0.2, 0.3]
    q = set!(Posterior(3; family = :low_rank_moment, rank = 2); mean = [1, 2, 3], low_rank = W, diagonal = s)
    @test family(q) === :low_rank_moment && rank(q) == 2
    @test var(q) ≈ vec(sum(abs2, W; dims = 2)) + s
    layers = Posterior(Model((2, 3, 1)); family = :layerwise_low_rank_moment, rank = 1)
    @test family(layers) === :layerwise_low_rank_moment && rank(layers) == 1
    @test mean(set!(layers; mean = 1:13)) == 1:13
    @test_throws InvalidArgumentError Posterior(3; family = :layerwise_low_rank_moment)
end

@testset "Kronecker-factored precisions" begin
    q = Posterior(Model((2, 3, 1)); family = :kronecker)
    set_tensors!(q, Dict("block1.precision" => reshape([1, 2, 4, 8], 4, 1)))
    @test family(q) === :kronecker && var(q)[10:13] ≈ [1, 1 / 2, 1 / 4, 1 / 8]
    @test_throws InvalidArgumentError Posterior(3; family = :kronecker)
end

@testset "posteriors are their tensors" begin
    q = Posterior((2, 1))
    set_tensors!(q, Dict("mean" => [1, 2, 3], "block0.precision" => [2 1; 1 2]))
    @test var(q) ≈ [2 / 3, 2 / 3, 1]
    for other in (q, Posterior(3; rank = 0), Posterior(3; rank = 2), Posterior(3; family = :full_moment))
        @test tensors(set_tensors!(copy(other), tensors(other))) == tensors(other)
    end
    @test mean(set!(Posterior((2, 1)); mean = [4, 5, 6])) == [4, 5, 6]
    @test_throws ShapeError set_tensors!(q, ["mean" => [1, 2]])
    @test_throws InvalidArgumentError set_tensors!(q, ["covariance" => [1, 2]])
    @test_throws InvalidArgumentError set_tensors!(q, ["block0.precision" => [-1 0; 0 -1]])
    @test_throws InvalidArgumentError Posterior((2, 1); family = :full)
    @test mean(q) == [1, 2, 3]
end

@testset "normal priors are in the units of the data" begin
    i = 1:30
    A = [100 .+ 3 .* sin.(1.7 .* i) 0.01 .* cos.(2.3 .* i)]
    b = 40 .+ 2 .* A[:, 1] .- 30 .* A[:, 2] .+ 2 .* cos.(5.1 .* i)
    given = Dict("(Intercept)" => normal(20, 10), "x1" => normal(1.5, 0.2), "x2" => normal(0, 5))
    m = fit(BayesianGLM, A, b; prior = given, learn_noise = 0, progress = false)
    tau = noise_precision(m.model)[1]
    Z, scale = [ones(30) A], [10, 0.2, 5]
    precision = Diagonal(scale .^ -2) + tau * Z' * Z
    error = sqrt.(diag(inv(precision)))
    @test maximum(abs.(coef(m) .- precision \ (tau * Z' * b .+ [20, 1.5, 0] ./ scale .^ 2)) ./ error) < 1e-7
    @test stderror(m) ≈ error rtol = 1e-7
    @test coefficient_prior(m) == (location = [20, 1.5, 0], scale = scale)
    @test occursin("normal(20.0, 10.0)", sprint(show, "text/plain", m))
    slopes = fit(BayesianGLM, A, b; prior = normal(0, [0.5, Inf]), progress = false)
    @test coefficient_prior(slopes).scale[2:3] == [0.5, Inf]
    @test coefficient_prior(slopes).location[1] ≈ mean(b)
    network = fit(BayesianMLP, A, b; hidden = 3, noise = :gaussian, epochs = 5, progress = false,
        prior = (x2 = normal(0, 0.001), layer1 = normal(0, 0.25)))
    @test prior(network.optimizer)[[2, 4, 6]] ≈ fill(1e6, 3) && prior(network.optimizer)[10:13] ≈ fill(16, 4)
    message(f) = try
        f()
        "nothing was refused"
    catch e
        sprint(showerror, e)
    end
    refused(p, text) = @test occursin(text, message(() -> fit(BayesianGLM, A, b; prior = p, progress = false)))
    refused(Dict("Intercept" => normal(0, 1)), "did you mean \"(Intercept)\"?")
    refused(Dict("weight" => normal(0, 1)), "it must be one of")
    refused(Dict("x1" => 3), "the prior of x1 is 3; it must be normal(location, scale)")
    refused(normal(0, [1, 2, 3]), "the prior has 3 numbers; it must have 1 or 2")
    @test occursin("it must be positive", message(() -> normal(0, -1)))
end
