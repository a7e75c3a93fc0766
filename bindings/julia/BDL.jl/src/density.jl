# Means, variances, draws and densities of a posterior.

row_of(q::Posterior) = Vector{dtype(q)}(undef, length(q))

"""
    mean(posterior)

The mean, a vector of D values.

# Examples
```julia
mean(q)
```
"""
mean(q::Posterior) = filled(view -> LibBDL.bdl_posterior_mean(handle(q), view), row_of(q), look_row)

"""
    var(posterior)

The marginal variances, diag(Sigma); `std(posterior)` are their roots.

# Examples
```julia
sqrt.(var(q)) == std(q)  # true
```
"""
var(q::Posterior) = filled(view -> LibBDL.bdl_posterior_marginal_variance(handle(q), view), row_of(q), look_row)
std(q::Posterior) = sqrt.(var(q))

"""
    cov(posterior)
    cov(posterior, rows, columns = rows)

The covariance Sigma, or a block of it given by parameter numbers from 1.

# Examples
```julia
cov(q, 1:10)          # 10 x 10
cov(q, [1, 5], 3:4)   # 2 x 2
```
"""
cov(q::Posterior) = cov(q, 1:length(q))
function cov(q::Posterior, rows, columns = rows)
    i, j = (numbers_from_0(given, length(q), "cov: a parameter's number") for given in (rows, columns))
    block = Matrix{dtype(q)}(undef, length(i), length(j))
    return filled(block) do view
        LibBDL.bdl_posterior_covariance(handle(q), i, length(i), j, length(j), view)
    end
end

"""
    low_rank(posterior)

The parts `(U, d)` of a low-rank posterior, whose precision is U U' + diag(d).

# Examples
```julia
parts = low_rank(q)
parts.U * parts.U' + Diagonal(parts.d)  # the precision
```
"""
function low_rank(q::Posterior)
    U, d = Matrix{dtype(q)}(undef, length(q), rank(q)), row_of(q)
    check(LibBDL.bdl_posterior_get_low_rank(handle(q), rank(q) == 0 ? NO_MATRIX : look(U), look_row(d)))
    return (U = U, d = d)
end

"""
    precision_diagonal(posterior)

diag(Sigma^-1), a vector.

# Examples
```julia
precision_diagonal(q) .* var(q)  # at least 1 each
```
"""
precision_diagonal(q::Posterior) =
    filled(view -> LibBDL.bdl_posterior_precision_diagonal(handle(q), view), row_of(q), look_row)

"""
    solve(posterior, v)

Sigma times a vector, or times each column of a matrix.

# Examples
```julia
solve(q, ones(length(q)))  # cov(q) * ones(length(q)), without forming cov(q)
```
"""
function solve(q::Posterior, v::AbstractVecOrMat)
    solution = similar(v, dtype(q))
    check(LibBDL.bdl_posterior_solve(handle(q), as_rows(v), as_rows(solution)))
    return solution
end

"""
    rand([rng], posterior; seed = rand(rng, UInt64))
    rand([rng], posterior, n; seed = rand(rng, UInt64), first = 0)

One draw, or n as the columns of a D x n matrix. Draw k depends on the seed and `first + k` only, so draws can be made
in any number of calls.

# Examples
```julia
thetas = rand(q, 100; seed = 1)
thetas[:, 51:100] == rand(q, 50; seed = 1, first = 50)  # true
```
"""
function Base.rand(rng::AbstractRNG, q::Posterior, n::Integer; seed::Integer = rand(rng, UInt64), first::Integer = 0)
    n >= 0 || throw(InvalidArgumentError("rand: n is $n; it must be 0 or more"))
    draws = Matrix{dtype(q)}(undef, length(q), n)
    return filled(view -> LibBDL.bdl_posterior_sample(handle(q), seed, first, view), draws, as_rows)
end
Base.rand(rng::AbstractRNG, q::Posterior; keywords...) = vec(rand(rng, q, 1; keywords...))
Base.rand(q::Posterior, n::Integer; keywords...) = rand(Random.default_rng(), q, n; keywords...)
Base.rand(q::Posterior; keywords...) = rand(Random.default_rng(), q; keywords...)

"""
    logpdf(posterior, theta)

log q(theta) in nats of a vector, or of each column of a D x n matrix.

# Examples
```julia
logpdf(q, mean(q))
logpdf(q, rand(q, 10))  # 10 values
```
"""
logpdf(q::Posterior, theta::AbstractVector) = log_densities(q, look_row(theta))[1]
logpdf(q::Posterior, thetas::AbstractMatrix) = log_densities(q, as_rows(thetas))

function log_densities(q::Posterior, rows)
    values = Vector{Float64}(undef, rows.matrix.rows)
    return filled(view -> LibBDL.bdl_posterior_log_density(handle(q), rows, view), values)
end

"""
    logdetcov(posterior)

log det Sigma in nats.

# Examples
```julia
logdetcov(LowRankPosterior(10, 0))  # 0.0
```
"""
logdetcov(q::Posterior) = read_out(out -> LibBDL.bdl_posterior_log_det_covariance(handle(q), out), Float64)

"""
    entropy(posterior)

Differential entropy in nats.

# Examples
```julia
entropy(LowRankPosterior(2, 0))  # log(2pi) + 1
```
"""
entropy(q::Posterior) = read_out(out -> LibBDL.bdl_posterior_entropy(handle(q), out), Float64)

"""
    kldivergence(q, p)
    kldivergence(q, precision)

KL(q, p) in nats of two posteriors, of any families, or of a posterior and the prior N(0, 1 / precision), with one
precision or D.

# Examples
```julia
kldivergence(LowRankPosterior(10, 0), 1)  # 0.0: N(0, I) and itself
```
"""
kldivergence(q::Posterior, p::Posterior) =
    read_out(out -> LibBDL.bdl_posterior_kl(handle(q), handle(p), out), Float64)
kldivergence(q::Posterior, precision::Union{Real,AbstractVecOrMat}) =
    read_out(out -> LibBDL.bdl_posterior_kl_prior(handle(q), look_row(precision), out), Float64)
