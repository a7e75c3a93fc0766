# Estimators learn from data sets as from arrays of the same rows.

same_fit(T, X, y, data; settings...) = begin
    expected = fit(T, X, y; progress = false, settings...)
    got = fit(T, data; progress = false, settings...)
    @test mean(expected.posterior) == mean(got.posterior)
    @test predict(expected, X) == predict(got, X)
    @test nobs(got) == nobs(expected)
    got
end

@testset "numbers, classes, images and streams" begin
    n = 60
    X = [sin(3.7i + j) for i in 1:n, j in 1:3]
    y = 3 .+ 2 .* X[:, 1] .- X[:, 2]
    both = [y y .^ 2]
    quick = (hidden = (5,), epochs = 3, samples = 10)
    same_fit(BayesianMLP, X, y, Dataset(X, reshape(y, :, 1)); quick...)
    same_fit(BayesianMLP, X, both, Dataset(X, both); quick...)
    same_fit(BayesianMLP, X, y, Dataset(X, y); noise = :student_t, quick...)
    same_fit(BayesianMLP, X, y, Dataset(X, y); method = "lo-fi", quick...)
    same_fit(BayesianGLM, X, y, Dataset(rows -> (X[rows, :], y[rows]), n; inputs = 3))
    for (word, labels) in ((:categorical, mod.(1:n, 3)), (:bernoulli, mod.(1:n, 2)))
        got = same_fit(BayesianMLP, X, labels, Dataset(X, Int32.(labels)); likelihood = word, quick...)
        @test classes(got) == unique(sort(labels))
    end
    images = [0.5 + 0.5 * sin(i * j) for i in 1:n, j in 1:64]
    same_fit(BayesianConv, images, mod.(1:n, 2), Dataset(images, mod.(1:n, 2)); network = "conv 2 3; relu; maxpool 2",
        image = (8, 8, 1), likelihood = :bernoulli, epochs = 2, samples = 5)
    # Fits go on.
    m, other = BayesianMLP(; quick...), BayesianMLP(; quick...)
    for _ in 1:2
        fit!(m, X, y; progress = false)
        fit!(other, Dataset(X, y); progress = false)
    end
    @test mean(m.posterior) == mean(other.posterior)
    @test target_range(Dataset(X, both)) == (vec(minimum(both; dims = 1)), vec(maximum(both; dims = 1)))
end

@testset "what is wrong is said" begin
    X = [sin(3.7i + j) for i in 1:20, j in 1:3]
    @test_throws ShapeError fit(BayesianMLP, Dataset(X); progress = false)
    @test_throws ShapeError target_range(Dataset(X))
    @test_throws LabelError fit(BayesianMLP, Dataset(X, mod.(1:20, 2) .+ 3); likelihood = :categorical, progress = false)
    @test_throws LabelError fit(BayesianMLP, Dataset(X, mod.(1:20, 3)); likelihood = :bernoulli, progress = false)
    @test_throws ShapeError fit(BayesianMLP, Dataset(X, X); likelihood = :categorical, progress = false)
    words = fit(BayesianMLP, X, ifelse.(X[:, 1] .> 0, "a", "b"); epochs = 1, progress = false)
    @test_throws LabelError fit!(words, Dataset(X, mod.(1:20, 2)); progress = false)
end
