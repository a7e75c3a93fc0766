# Error messages: with Julia's numbers, in one line, saying what to do.

said(call) =
    try
        call()
        "nothing"
    catch e
        sprint(showerror, e)
    end

# Rows, columns and the like count from 1, wherever the library has counted them from 0.
let Z = copy(X), p = [0.5 0.5; 0.5 0.6], model = Model((3, 1)), q = Posterior(model)
    Z[5, 2] = NaN
    member = Predictor([model, model], [q, q]; method = :plug_in)
    for (call, place) in (
        (() -> fit(BayesianGLM, Z, y), "at row 5, column 2"),
        (() -> predict(model, q, Z), "at row 5, column 2"),
        (() -> predict(member, Z), "at row 5, column 2"),
        (() -> fit(BayesianGLM, X, [1; -1; ones(58)]; family = :poisson), "y is -1 at row 2, column 1"),
        (() -> log_likelihoods(Model((3, 2); likelihood = :categorical), zeros(8), X, [0; 1; 2; zeros(57)]), "y is 2 at row 3, column 1"),
        (() -> accuracy(p[1:1, :], [2]), "y is 2 at row 1, expected a class number 0 to 1"),
        (() -> brier(p, [0, 1]), "has sum 1.1 in row 2"),
        (() -> nll([0.5 0.5; 1 0], [0, 1]), "to label 1 of row 2"),
        (() -> brier([0.5, 2.0], [0, 1]), "is 2 at row 2, column 1"),
        (() -> coverage([0.0, 1.0], [1.0, 0.0], [0.0, 0.0]), "at row 2, column 1"),
        (() -> set_classes!(Model((3, 3); likelihood = :categorical), [0, 3]), "has 3 at column 2"),
        (() -> set_noise!(Model((3, 2)); covariance = [1 0; 0.5 1]), "not symmetric at row 2, column 1"),
        (() -> set_tensors!(Posterior(3), ["diagonal" => [1, 0, 1]]), "at row 1, column 2"),
        (() -> set_standardization!(Model((3, 1)); input_scale = [1, 0, 1]), "at column 2"),
        (() -> evaluate(model, [1e308, 1e308, 1e308, 0], fill(10.0, 2, 3)), "output 1 for example 1"),
        (() -> target_range(Dataset(X, [y[1:59]; NaN])), "at row 60, column 1"),
    )
        text = said(call)
        occursin(place, text) && !occursin("counting from", text) || println(text, "\n    expected ", place)
        @test occursin(place, text) && !occursin("counting from", text)
    end
end
@test BDL.numbered_from_1("row 0, column 9") == "row 0, column 9"  # the library does not say that it has counted
@test BDL.numbered_from_1("columns 0 and 9 (counting from 0): 7 rows, row 2^53") == "columns 1 and 10: 7 rows, row 3^53"
@test occursin("number is 5; it must be 1 to 4", said(() -> cov(Posterior(4), 3:9)))
@test occursin("number is 0; it must be 1 to 4", said(() -> cov(Posterior(4), 0:2)))
@test cov(set!(LowRankPosterior(4, 0); mean = zeros(4), diagonal = 1:4), 3:4) ≈ [1/3 0; 0 1/4]

# Values are named in a line, however large they are.
let big = ones(10^5), q = Posterior(3)
    for (call, parts) in (
        (() -> fit(BayesianGLM, X, y; weights = big), ("BayesianGLM", "weights")),
        (() -> BayesianMLP(; weights = big), ("weights",)),
        (() -> BayesianConv(; weigths = big), ("weigths",)),
        (() -> BayesianMLP(; hiden = big), ("did you mean \"hidden\"",)),
        (() -> BayesianMLP(; epoch = 3), ("did you mean \"epochs\"",)),
        (() -> BayesianGLM(; learning_rat = 3), ("did you mean \"learning_rate\"",)),
        (() -> BayesianGLM(; hidden = (3,)), ("BayesianMLP",)),
        (() -> BayesianMLP(; hidden = big), ("hidden", "100000-element")),
        (() -> BayesianMLP(; dropout = big), ("dropout",)),
        (() -> BayesianMLP(; noise = big), ("noise",)),
        (() -> BayesianMLP(; likelihood = big), ("likelihood",)),
        (() -> BayesianGLM(; family = :tweedie), ("family is :tweedie",)),
        (() -> BayesianConv(; layout = big), ("layout",)),
        (() -> fit(BayesianGLM, X, y; learning_rate = big, progress = false), ("learning_rate", "must be a real number")),
        (() -> fit(BayesianMLP, X, y; activation = big, progress = false), ("activation",)),
        (() -> fit(BayesianGLM, X, y; prior_precision = collect(big), progress = false), ("prior_precision",)),
        (() -> fit(BayesianGLM, X, y; progress = big), ("progress",)),
        (() -> Optimizer(Model((3, 1)), Posterior(4), 60; samples = big), ("samples",)),
        (() -> Optimizer(Model((3, 1)), Posterior(4), 60; nonsense = big), ("nonsense",)),
        (() -> predict(fit(BayesianGLM, X, y; progress = false), X; kind = :probs), (":probs",)),
        (() -> cov(q, (big,)), ("whole numbers",)),
        (() -> estimator_default(big), ("name is",)),
        (() -> accuracy([0.2, 0.7], ["a", "b"]), ("\"a\" is not a real number",)),
        (() -> tune!(BayesianGLM(), X, y, (learning_rate = big, other = 1); progress = false), ("",)),
    )
        text = said(call)
        all(part -> occursin(part, text), parts) && length(text) < 300 && text != "nothing" || println(first(text, 300))
        @test all(part -> occursin(part, text), parts) && length(text) < 300 && text != "nothing"
    end
end

# Wrong arguments get a message that names the right ones.
let m = fit(BayesianGLM, X, y; progress = false), many = string.("label ", 1:1000)
    @test occursin("transpose", said(() -> fit(BayesianGLM, permutedims(X), y)))
    @test occursin("X[i:i, :]", said(() -> predict(m, X[1, :])))
    @test occursin("is for classes, the likelihood is :gaussian", said(() -> predict(m, X; kind = :prob)))
    @test occursin("family = :gaussian is for numbers: :bernoulli", said(() -> fit(BayesianGLM, X, fill("a", 60))))
    @test occursin("use family = :gaussian", said(() -> fit(BayesianGLM, X, y; family = :bernoulli)))
    @test occursin("parse.(Float64, y)", said(() -> fit(BayesianMLP, X, string.(y))))
    @test occursin("(1000 in all)", said(() -> BDL.encoded(["other"], many)))
    @test likelihood(fit(BayesianMLP, X, string.(round.(Int, X[:, 1])); epochs = 1, progress = false).model) === :categorical
    @test length(fit(BayesianMLP, X, y; hidden = 7, epochs = 1, progress = false).settings.hidden) == 1
end
disable_logging(Logging.BelowMinLevel)
@test_logs (:warn, r"60 different values in 60 rows") (:warn,) fit(BayesianMLP, X, string.("a", 1:60); epochs = 1, progress = false)
disable_logging(Logging.Warn)
