# Coefficients of every family, method and number of outputs: each estimator can be shown and asked.

let f = X * [1, -1, 0.5], three = [v < -0.5 ? :u : v < 0.5 ? :v : :w for v in f], counts = round.(Int, abs.(f))
    targets = [:gaussian => y, :gaussian => hcat(y, f), :bernoulli => f .> 0, :bernoulli => hcat(f .> 0, y .> 0), :categorical => three,
        :poisson => counts, :poisson => hcat(counts, counts), :heteroscedastic => y, :heteroscedastic => hcat(y, f),
        :student_t => y, :student_t => hcat(y, f)]
    shown(m) = sprint(show, MIME("text/plain"), m)
    train(kind, family, y; options...) =
        try
            kind === :glm ? fit(BayesianGLM, X, y; family = family, epochs = 1, progress = false, options...) :
            fit(BayesianMLP, X, y; likelihood = family, hidden = kind, epochs = 1, progress = false, options...)
        catch e
            e isa Union{UnsupportedError,DivergedError} || rethrow()  # methods for one output; streams that diverge
            nothing
        end
    fits = 0
    for (family, y) in targets, name in training_methods(), kind in (:glm, (), (2,))
        kind === :glm || name in ("slang-ggn", "exact-full", "map", "laplace", "mc-dropout") || continue
        m = train(kind, family, y; method = name)
        m === nothing && continue
        fits += 1
        D = length(m.posterior)
        @test length(coef(m)) == length(coefnames(m)) == length(unique(coefnames(m))) == length(stderror(m)) == D
        @test size(vcov(m)) == (D, D) && size(confint(m)) == (D, 2)
        @test occursin(name, shown(m)) && (kind === (2,) || occursin("coefficients (posterior mean", shown(m)))
        point = describe_method(name).prediction === :plug_in
        @test all(point ? isnan : v -> v >= 0, stderror(m)) && all(point ? isnan : isfinite, vcov(m))
        point && @test all(isnan, confint(m)) && !occursin("standard deviation)", shown(m))
    end
    @test fits > 400
end

# The mean and the noise of a heteroscedastic linear model are what its coefficients say, in the data's units.
for targets in (y, hcat(y, -3 .* y .+ 100))
    Z = X .* [1 5 0.2] .+ [3 0 -1]
    m = fit(BayesianGLM, Z, targets; family = :heteroscedastic, epochs = 200, progress = false)
    said, T = predict(m.model, m.posterior, Z; method = :plug_in), size(targets, 2)
    values = hcat(ones(60), Z) * reshape(coef(m), 4, 2T)
    @test said.mean ≈ values[:, 1:T] && said.noise_variance ≈ exp.(.-values[:, T+1:2T])
    @test coefnames(m)[end] == (T == 1 ? "" : "y2: ") * "log noise precision: x3"
    @test occursin("log noise precision: x3", sprint(show, MIME("text/plain"), m))
end

# A network without hidden units is a generalised linear model, with its coefficients; classes have theirs by name.
let network = fit(BayesianMLP, X, y; hidden = (), progress = false), glm = fit(BayesianGLM, X, y; progress = false)
    @test coef(network) == coef(glm) && vcov(network) == vcov(glm) && coefnames(network) == coefnames(glm)
    classes = fit(BayesianGLM, X, [v < 0 ? "no" : v < 1 ? "so" : "yes" for v in y]; family = :categorical, epochs = 2, progress = false)
    @test coefnames(classes)[[1, 12]] == ["no: (Intercept)", "yes: x3"]
    images = fit(BayesianConv, rand(4, 4, 60), y; network = "conv 2 3; relu", epochs = 1, progress = false)
    @test length(coef(images)) == length(coefnames(images)) == length(stderror(images))
    @test coefnames(fit(BayesianMLP, X, y; hidden = (2,), epochs = 1, progress = false))[[2, 7, 10]] ==
          ["layer0.weight[1,2]", "layer0.bias[1]", "layer1.weight[1,2]"]
end

# A point has no covariance, and a warning says so once; Laplace's approximation gives it one.
disable_logging(Logging.BelowMinLevel)
let m = fit(BayesianGLM, X, y; method = "map", epochs = 5, progress = false)
    foreach(ask -> (@test_logs (:warn, r"NaN.*\"map\" finds a point.*laplace"s) ask(m)), (vcov, stderror, confint))
    @test_logs sprint(show, MIME("text/plain"), m)
    laplace!(m.optimizer, X, y)
    @test all(isfinite, @test_logs vcov(m))
    @test all(isfinite, stderror(fit(BayesianGLM, X, y; method = "map", laplace = 1, epochs = 300, progress = false)))
    point = fit(BayesianGLM, X, y; method = "map", epochs = 5, progress = false).posterior
    @test !has_covariance(point) && has_covariance(Posterior(3))
    @test_throws UnsupportedError std(point)
end

# The first fit by a baseline says what it is for.
let caution = describe_method("bbb").caution, learn = () -> fit(BayesianGLM, X, y; method = "bbb", epochs = 300, progress = false)
    delete!(BDL.CAUTIONED, "bbb")
    @test occursin(r"^bbb is a baseline for comparisons \(Blundell et al. 2015\): untuned, it had 95 % intervals that .*laplace and the default passed the test\.$", caution)
    @test_logs (:warn, caution) match_mode = :any learn()
    @test !any(log -> log.message == caution, first(Test.collect_test_logs(learn)))
    @test describe_method("bbb").baseline && !describe_method("laplace").baseline && describe_method("laplace").caution == ""
end
disable_logging(Logging.Warn)
