# Weights, trials and offsets of rows.

const WEIGHED = MersenneTwister(5)
const ROWS = (X = randn(WEIGHED, 60, 2), w = repeat([0, 1, 2, 3], 15), offset = randn(WEIGHED, 60))
const ETA = ROWS.X * [1.0, -0.7] .+ 0.5

glm_of(arguments...; keywords...) = fit(BayesianGLM, arguments...; progress = false, keywords...)
repeated(A, w = ROWS.w) = (rows = reduce(vcat, fill.(1:length(w), w)); A isa AbstractVector ? A[rows] : A[rows, :])
same_posterior(a, b) = isapprox(coef(a), coef(b); rtol = 1e-9) && isapprox(stderror(a), stderror(b); rtol = 1e-9)

@testset "a row of weight 2 stands there twice" begin
    X, w, offset = ROWS
    for (family, y) in (:gaussian => 3 .+ ETA .+ randn(WEIGHED, 60), :poisson => [rand(WEIGHED, 0:4) for _ in 1:60],
        :bernoulli => ETA .+ randn(WEIGHED, 60) .> 0)
        weighted = glm_of(X, y; family = family, weights = w, offset = offset)
        plain = glm_of(repeated(X), repeated(y); family = family, offset = repeated(offset))
        @test same_posterior(weighted, plain)
        @test novelty_limit(weighted) ≈ novelty_limit(plain)
        @test novelty(weighted, X) ≈ novelty(plain, X)
        @test score(weighted, X, y; weights = w, offset = offset) ≈ score(plain, repeated(X), repeated(y); offset = repeated(offset))
        family === :bernoulli || @test loglikelihood(weighted, X, y; weights = w, offset = offset) ≈
              loglikelihood(plain, repeated(X), repeated(y); offset = repeated(offset))
        @test nobs(weighted) == count(>(0), w) && weights(weighted) == w && weights(plain) === nothing
    end
end

@testset "trials are their single results" begin
    X = ROWS.X
    trials = repeat(1:20, 3)
    successes = [rand(WEIGHED, 0:n) for n in trials]
    single = reduce(vcat, [(1:n) .<= k for (n, k) in zip(trials, successes)])
    grouped = glm_of(X, successes ./ trials; family = :bernoulli, weights = trials)
    plain = glm_of(repeated(X, trials), single; family = :bernoulli)
    @test same_posterior(grouped, plain)
    @test classes(grouped) == [0, 1]
    @test predict(grouped, X; kind = :prob) ≈ predict(plain, X; kind = :prob)
    @test score(grouped, X, successes ./ trials; weights = trials) ≈ score(plain, repeated(X, trials), single)
    all_results = [loglikelihood(grouped, X[1:1, :], [k / 3]; weights = [3]) for k in (1, 2)]
    ends = [loglikelihood(grouped, X[1:1, :], [k]; weights = [3]) for k in (0, 1)]
    @test sum(exp, [all_results; ends]) ≈ 1
end

@testset "offsets of counts are exposures" begin
    X, exposure = ROWS.X, repeat([1.0, 10.0, 100.0], 20)
    counts = round.(Int, exposure .* exp.(ETA))
    m = glm_of(X, counts; family = :poisson, offset = log.(exposure))
    @test coef(m) ≈ [0.5, 1.0, -0.7] atol = 0.1
    @test predict(m, X; offset = log(7)) ≈ 7 .* predict(m, X)
    @test predict([m, m], X; offset = log(7)) ≈ 7 .* predict(m, X)
    shifted = glm_of(X, ETA .+ 100 .* ROWS.offset; offset = 100 .* ROWS.offset)
    @test coef(shifted) ≈ coef(glm_of(X, ETA)) rtol = 1e-9
    two = glm_of(X, [ETA -ETA] .+ [5.0 7.0]; offset = repeat([5.0 7.0], 60))
    @test noffsets(two.model) == 2
    @test predict(two, X; offset = repeat([1.0 0.0], 60)) .- predict(two, X) ≈ repeat([1.0 0.0], 60)
end

@testset "networks, members and searches have weights and offsets" begin
    X, w, offset = ROWS
    y = ETA .+ 0.5 .* randn(WEIGHED, 60)
    spoilt = ifelse.(w .== 0, 1e4, y)
    m = fit(BayesianMLP, X, spoilt; hidden = 4, members = 2, epochs = 20, weights = w, offset = offset, progress = false)
    @test maximum(abs, predict(m, X; offset = offset)) < 100
    @test has_row_weights(only(m.others).model) && noffsets(only(m.others).model) == 1
    @test cross_validate(BayesianGLM(), X, spoilt; weights = w, offset = offset).score > -5
    tuned = BayesianGLM()
    tune!(tuned, X, spoilt, (prior_precision = (0.01, 1.0, :log),); random = 2, bayesian = 0, progress = false, weights = w)
    @test weights(tuned) == w
    stream = glm_of(X[1:30, :], y[1:30]; method = "ekf", weights = w[1:30])
    fit!(stream, X[31:60, :], y[31:60]; progress = false)  # with weights 1
    @test weights(stream) == ones(30) && novelty_limit(stream) > 0
end

@testset "data sets have columns of weights and offsets" begin
    X, w, offset = ROWS
    plain = glm_of(X, ETA; weights = w, offset = offset)
    for data in (Dataset([X offset], [ETA w]; row_weights = true, offsets = 1),
        Dataset(rows -> ([X offset][rows, :], [ETA w][rows, :]), 60; inputs = 3, targets = 2, row_weights = true, offsets = 1))
        m = glm_of(data)
        @test same_posterior(m, plain)
        @test novelty_limit(m) ≈ novelty_limit(plain)
    end
    @test_throws ShapeError Dataset(X, ETA; row_weights = true)
    @test_throws InvalidArgumentError Dataset(X, ETA; offsets = 2)
    @test_throws InvalidArgumentError fit!(plain, Dataset(X, ETA); progress = false)
end

@testset "wrong weights are refused" begin
    X, w, offset = ROWS
    message(f) = try f(); "" catch e; sprint(showerror, e) end
    @test message(() -> glm_of(X, ETA; weights = -w)) == "InvalidArgumentError: weights[2] is -1.0; it must be a finite number of at least 0"
    @test occursin("weights[1] is Inf", message(() -> glm_of(X, ETA; weights = 1 ./ w)))
    @test occursin("all weights are 0", message(() -> glm_of(X, ETA; weights = 0 .* w)))
    @test occursin("weights has 59 values, expected 60", message(() -> glm_of(X, ETA; weights = w[2:end])))
    @test occursin("offset is NaN in row 1", message(() -> glm_of(X, ETA; offset = NaN)))
    @test occursin("offset has 2 columns, expected 1", message(() -> glm_of(X, ETA; offset = [w w])))
    @test occursin("need weights, their numbers of trials", message(() -> glm_of(X, w ./ 3; family = :bernoulli)))
    m = glm_of(X, ETA)
    @test occursin("training was without", message(() -> predict(m, X; offset = 1)))
    @test occursin("training was without", message(() -> fit!(m, X, ETA; weights = w, progress = false)))
    @test occursin("training was without", message(() -> loglikelihood(m, X, ETA; weights = w)))
end

@testset "models say what rows have" begin
    model = Model((2, 1))
    @test !has_row_weights(model) && noffsets(model) == 0
    set_row_weights!(model)
    set_offsets!(model)
    @test has_row_weights(model) && noffsets(model) == 1 && ninputs(model) == 2
    optimizer = Optimizer(model, Posterior(model), "map", 60)
    @test_throws UnsupportedError set_offsets!(model, false)
    path = joinpath(mktempdir(), "weighted.safetensors")
    save(path, optimizer)
    @test has_row_weights(load(path).model)
end
