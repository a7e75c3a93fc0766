# Against dense linear algebra.
let D = 6, U = randn(6, 2), d = rand(6) .+ 0.5, mu = randn(6)
    q = set!(LowRankPosterior(D, 2); mean = mu, low_rank = U, diagonal = d)
    Sigma = inv(U * U' + Diagonal(d))
    @test !isblank(q) && isblank(Posterior(D)) && length(q) == D && rank(q) == 2 && family(q) === :low_rank
    @test mean(q) == mu && low_rank(q) == (U = U, d = d)
    @test cov(q) ≈ Sigma
    @test cov(q, [2, 5], 3:3) ≈ Sigma[[2, 5], 3:3] && cov(q, 2) ≈ Sigma[2:2, 2:2]
    @test var(q) ≈ diag(Sigma) && std(q) ≈ sqrt.(diag(Sigma)) && precision_diagonal(q) ≈ diag(inv(Sigma))
    V = randn(6, 3)
    @test solve(q, V) ≈ Sigma * V && solve(q, V[:, 1]) ≈ Sigma * V[:, 1]
    @test logdetcov(q) ≈ logdet(Sigma)
    @test entropy(q) ≈ (D + D * log(2pi) + logdet(Sigma)) / 2
    @test logpdf(q, mu) ≈ -(D * log(2pi) + logdet(Sigma)) / 2
    @test logpdf(q, [mu V[:, 1]])[1] == logpdf(q, mu)
    @test kldivergence(q, 2) ≈ (2tr(Sigma) + 2mu'mu - D - D * log(2) - logdet(Sigma)) / 2
    full = set!(Posterior(D; family = :full); mean = mu, precision = inv(Sigma))
    @test abs(kldivergence(q, full)) < 1e-9
    draws = rand(MersenneTwister(1), q, 20_000)
    @test norm(mean(draws; dims = 2) - mu) < 0.1 && norm(cov(draws; dims = 2) - Sigma) < 0.1
    other = copy(q)
    update!(q, randn(4, D); learning_rate = 0.1, curvature_rate = 0.1)
    @test mean(other) == mu && mean(q) != mu
    @test mean(deepcopy(other)) == mu
    moment = set!(Posterior(D; family = :full_moment); mean = mu, covariance = Sigma)
    @test cov(moment) ≈ Sigma
    diagonal = set!(Posterior(D; family = :diagonal_moment); mean = mu, variance = d)
    @test var(diagonal) ≈ d
end

# Dropout: draws are masked means.
let model = Model((3, 4, 1)), q = Posterior(model; family = :dropout, input_rate = 0.25, hidden_rate = 0.5)
    @test dropout_rates(q) == (input = 0.25, hidden = 0.5)
    set!(q; mean = ones(nparameters(model)))
    @test Set(rand(q, 20; seed = 1)) ⊆ Set([0, 1 / 0.75, 2, 1])
end

# Models: parameters, derivatives, units.
let model = Model((3, 4, 2); activation = :tanh), theta = initialize(model; seed = 2), Y = randn(60, 2)
    @test (ninputs(model), noutputs(model), ntargets(model), dtype(model)) == (3, 2, 2, Float64)
    @test (likelihood(model), activation(model)) == (:gaussian, :tanh)
    weight(b) = permutedims(reshape(theta[b.range], reverse(b.size)))
    W1, b1, W2, b2 = map(weight, blocks(model))
    @test evaluate(model, theta, X) ≈ tanh.(X * W1' .+ b1') * W2' .+ b2'
    rows = gradient_rows(model, theta, X, Y)
    J = reshape(jacobian(model, theta, X), 2, 60, :)
    residual = permutedims(evaluate(model, theta, X) - Y)
    @test rows ≈ dropdims(sum(J .* residual; dims = 1); dims = 1)
    H = hessian(model, theta, X, Y)
    v = randn(nparameters(model), 2)
    @test hessian_vector_product(model, theta, X, Y, v) ≈ H * v
    @test sum(log_likelihoods(model, theta, X, Y)) ≈ -60 * log(2pi) - sum(abs2, residual) / 2
    set_noise!(model; sd = [0.5, 2])
    @test noise_precision(model) ≈ [4, 0.25] && noise_covariance(model) ≈ [0.25 0; 0 4]
    set_noise!(model; covariance = [1 0.5; 0.5 1])
    @test noise_covariance(model) == [1 0.5; 0.5 1]
    standardize!(model, X, Y)
    units = standardization(model)
    @test units.input_mean ≈ vec(mean(X; dims = 1)) && units.target_scale ≈ vec(std(Y; dims = 1, corrected = false))
    set_standardization!(model; input_scale = [1, 2, 4])
    @test standardization(model).input_scale == [1, 2, 4] && standardization(model).target_mean == [0, 0]
    twin = copy(model)
    @test twin.handle !== model.handle && standardization(twin).input_scale == [1, 2, 4]
    set_noise!(twin; precision = 7)
    @test noise_covariance(model) == [1 0.5; 0.5 1] && noise_precision(twin) ≈ [7, 7]
end
