# Links, negative binomial, Gamma and ordinal models.

let rng = MersenneTwister(7), n = 500
    Z = randn(rng, n, 2)
    eta = 0.4 .+ Z * [0.8, -0.5]
    logistic = let u = rand(rng, n)
        log.(u ./ (1 .- u))
    end
    draw_gamma(k, mean) = mean * sum(-log(rand(rng)) for _ in 1:k) / k  # whole shapes
    function draw_poisson(rate)
        count, product = 0, rand(rng)
        while product > exp(-rate)
            count, product = count + 1, product * rand(rng)
        end
        return count
    end
    levels_of = [f < -0.5 ? 0 : f < 1.5 ? 1 : 2 for f in eta .+ logistic]
    cases = (:probit => eta .+ randn(rng, n) .> 0, :cloglog => rand(rng, n) .< 1 .- exp.(-exp.(eta)),
        :gamma => [draw_gamma(4, exp(f)) for f in eta], :negative_binomial => [draw_poisson(draw_gamma(3, exp(f))) for f in eta],
        :ordinal => levels_of)
    for (family, y) in cases
        m = fit(BayesianGLM, Z, y; family = family, progress = false)
        slopes = coef(m)[2:3]
        @test all(abs.(slopes .- [0.8, -0.5]) .< 4 .* stderror(m)[2:3])
        @test likelihood(m.model) === family
        if family in (:gamma, :negative_binomial)
            @test abs(log(shape(m.model) / (family === :gamma ? 4 : 3))) < 0.6
            intervals = predict(m, Z; interval = 0.8)
            @test all(isfinite, predict(m, Z))
            @test_throws UnsupportedError predict(m, Z; kind = :prob)
        else
            p = predict(m, Z; kind = :prob)
            @test size(p, 2) == (family === :ordinal ? 3 : 2) && all(isapprox.(sum(p; dims = 2), 1))
            @test score(m, Z, y) > 0.45
        end
        family === :ordinal && @test all(abs.(cut_points(m.model) .- coef(m)[1] .- [-0.9, 1.1]) .< 0.6)
        file = IOBuffer()
        serialize(file, m)
        @test predict(deserialize(seekstart(file)), Z[1:3, :]) == predict(m, Z[1:3, :])
        network = fit(BayesianMLP, Z, y; likelihood = family, hidden = 5, epochs = 20, progress = false)
        @test all(isfinite, predict(network, Z; kind = family in (:gamma, :negative_binomial) ? :mean : :prob))
        @test occursin(string(family), sprint(show, MIME("text/plain"), m))
    end
    model = Model((2, 1); likelihood = :ordinal)
    @test levels(set_levels!(model, 4)) == 4 && cut_points(model) ≈ log.([1 / 3, 1, 3])
    @test cut_points(set_cut_points!(model, [-1.0, 0.5])) == [-1.0, 0.5] && levels(model) == 3
    @test size(predict_classes(model, Posterior(model), Z[1:2, :]).probabilities) == (2, 3)
    @test shape(set_shape!(Model((2, 1); likelihood = :gamma), 2)) == 2 && levels(Model((2, 1))) == 0
    @test_throws UnsupportedError shape(Model((2, 1)))
    @test_throws InvalidArgumentError set_cut_points!(model, [1.0, 0.0])
end
