# Cross-validation and tuning of estimators, by any number of workers; searches on ranks.

tuning_data(n = 45) = (x = [sin(3.7i + j) for i in 1:n, j in 1:2]; (x, 3 .+ 2 .* x[:, 1] .- x[:, 2] .+ 0.1 .* sin.(100 .* (1:n))))

@testset "cross-validation does not depend on workers" begin
    X, y = tuning_data()
    for (m, targets) in ((BayesianMLP(; hidden = (5,), epochs = 5, samples = 20), y),
        (BayesianMLP(; hidden = (5,), epochs = 5, samples = 20), y .> 3), (BayesianGLM(; epochs = 20), y))
        scores = [cross_validate(m, X, targets; folds = 3, workers = n) for n in (1, 2, 5, nothing)]
        @test all(==(scores[1]), scores)
        @test isfinite(scores[1].score) && scores[1].standard_error > 0
        @test m.optimizer === nothing
    end
end

@testset "estimators are tuned, by any number of workers" begin
    X, y = tuning_data()
    ranges = (learning_rate = (0.005, 0.2, :log), samples = (1, 4), curvature = ["mc-ef", "mc-ggn"])
    function tuned(n)
        m = BayesianMLP(; hidden = (5,), epochs = 5, samples = 20, dtype = Float64)
        tried = tune!(m, X, y, ranges; random = 2, bayesian = 2, folds = 3, parallel_trials = 2, workers = n, progress = false)
        return m, tried
    end
    (one, tried), (other, again) = tuned(1), tuned(3)
    @test tried == again && length(tried) == 4
    best = tried[argmax([t.score for t in tried])]
    @test one.settings.options == best.values
    @test mean(one.posterior) == mean(other.posterior)
    same = fit(BayesianMLP, X, y; hidden = (5,), epochs = 5, samples = 20, progress = false, best.values...)
    @test mean(same.posterior) == mean(one.posterior)
    # Progress may take the best so far.
    seen = tune!(one, X, y, (momentum = (0.1, 0.8),); random = 5, bayesian = 0, folds = 2, progress = s -> length(s) == 2)
    @test length(seen) == 2
end

@testset "what is wrong is said" begin
    X, y = tuning_data()
    m = BayesianMLP(; hidden = (5,), epochs = 2)
    @test_throws InvalidArgumentError cross_validate(m, X, y; workers = -1)
    @test_throws UnknownOptionError tune!(m, X, y, (learning_rat = (0.1, 1.0),); progress = false)
    @test_throws InvalidArgumentError tune!(m, X, y, (momentum = 0.1,); progress = false)
    @test_throws UnsupportedError tune!(m, X, y, NamedTuple(); progress = false)
    @test_throws UnsupportedError cross_validate(BayesianMLP(; method = "lo-fi"), X, y)
end

@testset "a rank of one searches as if alone" begin
    X, y = tuning_data()
    model = Model((2, 3, 1))
    optimizer = Optimizer(model, Posterior(model; rank = 2), "slang-ggn", 45; minibatch = 15)
    new() = vary!(Search(optimizer; folds = 3, epochs = 2, samples = 10, parallel_trials = 2), :learning_rate, 0.01, 0.2; scale = :log)
    alone = run!(new(), X, y; random = 2, bayesian = 2, workers = 2)
    search, ranks = new(), Communicator(message -> [message], (peer, message) -> error("no peer"); rank = 0, size = 1)
    @test set_communicator!(search, ranks) === search
    run!(search, X, y; random = 1, bayesian = 0)
    GC.gc()
    run!(search, X, y; random = 1, bayesian = 2)
    @test trials(search) == trials(alone)
    close(ranks)
    set_communicator!(search, nothing)
end
