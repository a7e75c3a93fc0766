# The yacht data, its first published split, as in the quickstart.
let (x, target, x_test, y_test) = yacht()
    m = fit(BayesianMLP, x, target; progress = false)
    @test sqrt(mean(abs2, predict(m, x_test) .- y_test)) < 1.2
    @test loglikelihood(m, x_test, y_test) / 31 > -1.6
    p = predict(m, x_test; interval = 0.9, std = true)
    @test p.mean == predict(m, x_test) && all(p.lower .< p.mean .< p.upper)
    @test 0.7 <= coverage(p.lower, p.upper, y_test) <= 1
    @test score(m, x_test, y_test) > 0.99
    @test size(predict(m, x_test; kind = :quantile)) == (31, 3) && size(predict(m, x_test; kind = :draws)) == (31, 500)
    @test (nobs(m), dof(m), classes(m)) == (277, 452, nothing)
    @test size(rand(m.posterior, 3)) == (452, 3) && length(coef(m)) == 452
    text = sprint(show, MIME("text/plain"), m)
    @test all(part -> occursin(part, text), ("6-50-2 relu", "(converged) = expected log likelihood", "heteroscedastic", "diagnosis", "rank 5"))
    @test repr(m) == "BayesianMLP(6-50-2, heteroscedastic, 277 examples)"

    # Training by handles gives equal results: the defaults agree.
    model = standardize!(Model((6, 50, 2); likelihood = :heteroscedastic), x, target)
    optimizer = fit!(Optimizer(model, Posterior(model; rank = 5), "slang", 277; seed = 1), x, target)
    @test vec(predict(model, optimizer.posterior, x_test; method = :linearized).mean) == predict(m, x_test)

    # Copies and serialized ones go on as the original does.
    others = (deepcopy(m), through_bytes(m))
    foreach(m -> fit!(m, x, target; epochs = 1, progress = false), (m, others...))
    @test all(other -> predict(other, x_test) == predict(m, x_test), others)
end

# Settings first, a fit that fails leaves nothing behind, a progress line, several targets.
let m = BayesianMLP(; hidden = (4,), epochs = 2, dtype = Float32, samples = 10, learning_rate = 0.01)
    @test repr(m) == "BayesianMLP(not fitted)"
    @test_throws NotFiniteError fit!(m, fill(NaN, 60, 2), y; progress = false)
    fit!(m, X, hcat(y, -y); progress = o -> true)
    @test m.optimizer[:learning_rate] == 0.01
    @test size(predict(m, X)) == (60, 2) && eltype(predict(m, X)) == Float64
    @test length(score(m, X, hcat(y, -y))) == 1
    io = IOBuffer()
    BDL.progress_line(io)(m.optimizer)
    @test occursin("epoch", String(take!(io)))
end

# Interrupted in its first fit, it is partly trained and usable, and fit! finishes.
let m = BayesianMLP(; hidden = (4,))
    @test_throws InterruptException fit!(m, X, y; progress = o -> throw(InterruptException()))
    @test size(predict(m, X)) == (60,) && nobs(m) == 60
    fit!(m, X, y; epochs = 0, progress = false)
    @test progress(m.optimizer).epoch == 100
    @test predict(m, X) == predict(fit(BayesianMLP, X, y; hidden = (4,), progress = false), X)
end

# Classification, whatever the labels are.
for (labels, word) in ((X[:, 1] .> 0, :bernoulli), (ifelse.(X[:, 1] .> 0, "yes", "no"), :bernoulli),
    ([x > 0.4 ? :c : x < -0.4 ? :a : :b for x in X[:, 1]], :categorical))
    m = fit(BayesianMLP, X, labels; hidden = (8,), progress = false)
    @test likelihood(m.model) === word && classes(m) == sort(unique(labels))
    @test predict(m, X) isa AbstractVector{eltype(labels)} && score(m, X, labels) > 0.85
    p = predict(m, X; kind = :prob)
    @test size(p) == (60, length(classes(m))) && all(sum(p; dims = 2) .≈ 1)
    @test loglikelihood(m, X, labels) < 0
    @test occursin("classes", sprint(show, MIME("text/plain"), m))
    @test_throws LabelError loglikelihood(m, X, fill("other", 60))
    @test predict(through_bytes(m), X) == predict(m, X)
end
let m = fit(BayesianMLP, X, X .> 0; hidden = (8,), progress = false)
    @test likelihood(m.model) === :bernoulli && score(m, X, X .> 0) > 0.85 && size(predict(m, X; kind = :prob)) == (60, 3)
end
@test likelihood(fit(BayesianMLP, X, round.(Int, y); epochs = 1, progress = false).model) === :heteroscedastic

# Linear models recover what made the data, in the data's units.
let n = 2000, Z = randn(n, 3) .* [1 5 0.2] .+ [3 0 -1], truth = [0.5, 1.0, -0.2, 2.0], f = truth[1] .+ Z * truth[2:4]
    near(m, truth) = all(abs.(coef(m) .- truth) .< 4 .* stderror(m)) && maximum(stderror(m)) < 0.7
    targets, A = f .+ 0.5 .* randn(n), hcat(ones(n), Z)
    gaussian = fit(BayesianGLM, Z, targets; progress = false)
    @test near(gaussian, truth)
    # With so many data the prior hardly matters: what least squares say.
    squares = A \ targets
    @test maximum(abs.(coef(gaussian) .- squares) ./ stderror(gaussian)) < 0.1
    @test stderror(gaussian) ≈ sqrt.(diag(inv(A'A)) .* var(targets .- A * squares)) rtol = 0.01
    @test abs(sqrt(noise_covariance(gaussian.model)[1]) - 0.5) < 0.05
    @test family(gaussian.posterior) === :full && method(gaussian.optimizer) == "exact-full"
    @test near(fit(BayesianGLM, Z, rand(n) .< 1 ./ (1 .+ exp.(-f)); family = :bernoulli, progress = false), truth)
    rate = exp.(0.2 .* f)
    counts = [sum(cumsum(randexp(60)) .< r) for r in rate]
    poisson = fit(BayesianGLM, Z, counts; family = :poisson, progress = false)
    @test near(poisson, 0.2 .* truth)
    @test all(predict(poisson, Z) .> 0)
    @test coefnames(gaussian) == ["(Intercept)", "x1", "x2", "x3"]
    @test f ≈ hcat(ones(n), Z) * truth && norm(predict(gaussian, Z) - hcat(ones(n), Z) * coef(gaussian)) / sqrt(n) < 0.1
    limits = confint(gaussian; level = 0.95)
    z, ν = 1.959963984540054, noise_degrees_of_freedom(gaussian.model)[1]
    @test n - 5 < ν < n
    t = z + (z^3 + z) / 4ν + (5z^5 + 16z^3 + 3z) / 96ν^2  # the expansion of Student's quantile for many degrees
    @test (limits[:, 2] .- limits[:, 1]) ./ stderror(gaussian) ≈ fill(2t, 4)
    @test issymmetric(vcov(gaussian)) && sqrt.(diag(vcov(gaussian))) == stderror(gaussian)
    @test occursin("(Intercept)", sprint(show, MIME("text/plain"), gaussian))
    two = fit(BayesianGLM, Z, hcat(f, -f) .+ 0.5 .* randn(n, 2); intercept = false, epochs = 5, progress = false)
    @test length(coef(two)) == 6 && coefnames(two)[4] == "y2: x1"
end

# Predictions suit the method, which brings its posterior; what is left open, the library suggests.
for (name, usual) in (("map", :plug_in), ("laplace", :linearized), ("vogn", :linearized), ("mc-dropout", :monte_carlo))
    m = fit(BayesianMLP, X, y; hidden = (4,), method = name, epochs = 5, samples = 20, progress = false)
    @test predict(m, X; std = true) == predict(m, X; std = true, method = usual)
    @test size(predict(m, X; kind = :draws)) == (60, 20)
end
let m = fit(BayesianMLP, X, y; hidden = (4,), epochs = 1, progress = false)
    @test method(m.optimizer) == suggest_method(m.model, m.posterior) == "slang"
    @test suggest_method(m.model, m.posterior; stream = true) == "lo-fi"
    @test method(fit(BayesianMLP, X, X[:, 1] .> 0; epochs = 1, progress = false).optimizer) == "slang"
    lofi = describe_method("lo-fi")
    @test (lofi.families, lofi.stream, lofi.exact, lofi.prediction) == ([:low_rank], true, false, :linearized)
    @test lofi.source == "Chang et al. 2023" && endswith(lofi.doc, ".")
    @test_throws InvalidArgumentError describe_method("lofi")
end

# Every method of the library, of linear models and of networks; those for the former alone say so.
let labels = ifelse.(X[:, 1] .> 0, "b", "a"), three = [x < -0.5 ? "u" : x < 0.5 ? "v" : "w" for x in X[:, 1]]
    for name in training_methods()
        kind = describe_method(name)
        for (family, targets) in ((:gaussian, y), (:bernoulli, labels))
            m = fit(BayesianGLM, X, targets; family = family, method = name, epochs = 5, progress = false)
            @test method(m.optimizer) == name && all(isfinite, predict(m, X; kind = family === :gaussian ? :mean : :prob))
        end
        for targets in (y, labels, three)
            train() = fit(BayesianMLP, X, targets; hidden = (3,), method = name, epochs = 2, samples = 20, progress = false)
            if kind.exact || name == "slang-exact-hess"
                @test_throws UnsupportedError train()
            else
                m = train()
                @test method(m.optimizer) == name && all(isfinite, predict(m, X; kind = targets === y ? :mean : :prob))
            end
        end
    end
    m = fit(BayesianMLP, X, y; hidden = (3,), method = "mc-dropout", epochs = 2, progress = false)
    @test values(dropout_rates(m.posterior)) == (0.0, 0.1) && isnan(diagnose(m.optimizer).mean_shift)
    rates = fit(BayesianMLP, X, y; hidden = (3,), posterior = :dropout, dropout = (0.2, 0.3), epochs = 2, progress = false)
    @test method(rates.optimizer) == "mc-dropout" && values(dropout_rates(rates.posterior)) == (0.2, 0.3)
    network, glm = fit(BayesianMLP, X, y; hidden = (), progress = false), fit(BayesianGLM, X, y; progress = false)
    @test method(network.optimizer) == "exact-full" && predict(network, X) == predict(glm, X)
    @test_throws InvalidArgumentError estimator_default(:width)
    @test_throws InvalidArgumentError BayesianMLP(dropout = (0.1, 0.2, 0.3))
end

# Options are set together or not at all.
let model = Model((2, 3, 1)), optimizer = Optimizer(model, Posterior(model; rank = 2), "map", 10)
    @test_throws UnsupportedError optimizer[:rule] = "bbb"
    set!(optimizer; rule = "bbb", descent = :sgd)
    @test set_text!(optimizer, "minibatch=3 learning_rate=0.125")[:minibatch] == 3 && optimizer[:rule] == "bbb"
    @test_throws UnknownOptionError set!(optimizer; momentum = 0.5, sample = 3)
    @test optimizer[:momentum] == 0.9
end

# The noise by default is what suits the fit.
let taken(T = BayesianMLP; settings...) = likelihood(fit(T, X, y; epochs = 3, progress = false, settings...).model)
    @test taken(; hidden = 4) === taken(; hidden = 4, method = "vogn") === taken(BayesianConv; network = "dense 4; relu") === :heteroscedastic
    @test taken(; hidden = 4, method = "laplace") === :gaussian
    @test taken(; hidden = 4, heteroscedastic_from = 0.9) === :heteroscedastic
    @test taken(; hidden = ()) === taken(; hidden = 4, method = "lo-fi") === taken(; hidden = 4, method = "mc-dropout") === :gaussian
    @test taken(; hidden = 4, learn_noise = 0) === taken(BayesianConv; network = "dense 4; batchnorm; relu", method = "vogn") === :gaussian
    @test taken(BayesianConv; network = "input $(size(X, 2)); dense 4; relu; dense 1") === taken(BayesianGLM) === :gaussian
    for noise in (:gaussian, :heteroscedastic)
        before = fit(BayesianMLP, X, y; hidden = 4, epochs = 3, noise = noise, progress = false)
        @test taken(; hidden = 4, prior = before) === taken(; hidden = 4, prior = before.posterior) === noise
    end
    data = fit(BayesianMLP, Dataset(X, y); hidden = 4, epochs = 3, progress = false)
    @test likelihood(data.model) === :heteroscedastic && BayesianMLP().settings.noise === :auto
end

# A huge outlier makes it Student's t, and a warning says so once.
let x = range(-1, 1; length = 200)[:, :], line = 2 .* x[:, 1], y = line .+ 0.1 .* sin.(1:200)
    y[7] = 1e4
    expected = r"a target is [\d.]+ robust standard deviations from the median, .* set noise = :heteroscedastic"
    disable_logging(Logging.BelowMinLevel)
    m = @test_logs (:warn, expected) fit(BayesianMLP, x, y; hidden = 10, members = 2, progress = false)
    disable_logging(Logging.Warn)
    @test likelihood(m.model) === likelihood(only(m.others).model) === :student_t && m.settings.noise === :auto
    p = predict(m, x; interval = 0.95)
    @test rmse(p.mean, line) < 0.2 && 0.9 < mean(p.lower .< y .< p.upper) <= 1
    @test predict(deepcopy(m), x) == p.mean && occursin("student_t", sprint(show, MIME("text/plain"), m))
    fit!(m, x, line; epochs = 1, progress = false)
    @test likelihood(m.model) === :student_t
    for (data, noise) in (((x, y), :heteroscedastic), ((Dataset(x, y),), :auto))
        other = fit(BayesianMLP, data...; hidden = 4, epochs = 3, noise = noise, progress = false)
        @test likelihood(other.model) === :heteroscedastic
    end
end

# Heteroscedastic noise is that of the example.
let x = range(-1, 1; length = 400)[:, :], y = 2 .* x[:, 1] .+ exp.(x[:, 1]) .* sin.(1:400) .* sqrt(2)
    m = fit(BayesianMLP, x, y; noise = :heteroscedastic, hidden = (10,), epochs = 200, progress = false)
    @test likelihood(m.model) === :heteroscedastic && noutputs(m.model) == 2
    p = predict(m, [-0.8 0.8]'; std = true, interval = 0.9)
    @test p.std[2] > 2 * p.std[1] && p.upper[2] - p.lower[2] > 2 * (p.upper[1] - p.lower[1])
    @test size(predict(m, x; kind = :draws, samples = 7)) == (400, 7) && length(noise_precision(m.model)) == 1
    @test length(BDL.standardization(m.model).target_mean) == 1
    @test_throws InvalidArgumentError fit(BayesianMLP, x, y; noise = :loud)
    @test_throws InvalidArgumentError fit(BayesianMLP, x, y .> 0; noise = :heteroscedastic, progress = false)
end

# Student-t noise is not drawn by outliers.
let x = range(-1, 1; length = 200)[:, :], line = 2 .* x[:, 1], y = line .+ 0.1 .* sin.(1:200)
    y[5:20:end] .+= 20
    m, gaussian = (fit(BayesianMLP, x, y; noise = noise, hidden = (10,), progress = false) for noise in (:student_t, :gaussian))
    @test likelihood(m.model) === :student_t && 1 <= degrees_of_freedom(m.model) < 3
    @test 5 * rmse(predict(m, x), line) < rmse(predict(gaussian, x), line)
    p = predict(m, x; interval = 0.5)
    @test all(p.lower .< p.mean .< p.upper) && size(predict(m, x; kind = :draws, samples = 7)) == (200, 7)
    fixed = fit(BayesianMLP, x, y; noise = :student_t, learn_degrees_of_freedom = 0, epochs = 1, progress = false)
    @test degrees_of_freedom(fixed.model) == degrees_of_freedom(Model((1, 1); likelihood = :student_t))
    @test_throws InvalidArgumentError fit(BayesianMLP, x, y .> 0; noise = :student_t, progress = false)
end

# Fits that are too short say so, and healthy ones nothing.
disable_logging(Logging.BelowMinLevel)
let
    early = @test_logs (:warn, r"train for more") fit(BayesianMLP, X, y; hidden = (4,), epochs = 1, progress = false)
    @test occursin("(see the diagnosis)", sprint(show, MIME("text/plain"), early))
    @test_logs fit(BayesianMLP, X, y; progress = false)
    @test_logs fit(BayesianGLM, X, y; progress = false)
    disable_logging(Logging.Warn)
end

# Members are an ensemble of seeds.
let settings = (hidden = (5,), epochs = 10, samples = 20, progress = false)
    m = fit(BayesianMLP, X, y; settings..., members = 3, seed = 4)
    each = [fit(BayesianMLP, X, y; settings..., seed = 3 + j) for j in 1:3]
    @test predict(m, X; interval = 0.9) == predict(each, X; interval = 0.9)
    @test length(m.others) == 2 && isfinite(loglikelihood(m, X, y))
    @test_throws UnsupportedError save(tempname(), m)
    @test_throws UnsupportedError cross_validate(m, X, y)
    fit!(m, X, y; epochs = 5, progress = false)
    @test progress(m.others[2].optimizer).epoch == 15
    @test_throws UnsupportedError fit(BayesianMLP, X, y; hidden = (), members = 2)
end

# Settings that nothing reads.
let
    for settings in ((posterior = :full, rank = 5), (method = "vogn", rank = 5), (dropout = 0.5,),
        (method = "map", iterations = 3))
        @test_throws UnsupportedError fit(BayesianMLP, X, y; hidden = (3,), progress = false, settings...)
    end
    @test_throws UnsupportedError fit(BayesianGLM, X, y; learning_rate = 100, progress = false)
    @test rank(fit(BayesianGLM, X, y; rank = 2, epochs = 2, progress = false).posterior) == 2
end
