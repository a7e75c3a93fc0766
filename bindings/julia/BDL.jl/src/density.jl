# Means, variances, draws and densities of a posterior.

row_of(q::Posterior) = Vector{dtype(q)}(undef, length(q))

"""
    mean(posterior)

Returns the mean, a vector of D values.

# Examples
```julia
mean(q)[1:3]
```
"""
mean(q::Posterior) = filled(view -> LibBDL.bdl_posterior_mean(handle(q), view), row_of(q), look_row)

"""
    var(posterior)

Returns the marginal variances, the diagonal of the covariance matrix; `std(posterior)` returns their square roots.

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

Returns the covariance matrix, or a block of it for the given numbers of parameters, from 1.

# Examples
```julia
size(cov(q, 1:10))  # (10, 10)

cov(q, [1, 5], 3:4)  # 2 x 2
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

Returns the parts `(U, d)` of a low-rank posterior, whose precision matrix is U U' + diag(d).

# Examples
```julia
parts = low_rank(q)
precision = parts.U * parts.U' + Diagonal(parts.d)
size(precision)
```
"""
function low_rank(q::Posterior)
    U, d = Matrix{dtype(q)}(undef, length(q), rank(q)), row_of(q)
    check(LibBDL.bdl_posterior_get_low_rank(handle(q), rank(q) == 0 ? NO_MATRIX : look(U), look_row(d)))
    return (U = U, d = d)
end

"""
    precision_diagonal(posterior)

Returns the diagonal of the precision matrix, a vector.

# Examples
```julia
all(precision_diagonal(q) .* var(q) .>= 0.999)  # true
```
"""
precision_diagonal(q::Posterior) =
    filled(view -> LibBDL.bdl_posterior_precision_diagonal(handle(q), view), row_of(q), look_row)

"""
    solve(posterior, v)

Returns the product of the covariance matrix with a vector, or with each column of a matrix, without the covariance matrix itself.

# Examples
```julia
solve(q, ones(length(q))) ≈ cov(q) * ones(length(q))  # true
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

Returns one sample, a vector, or n samples as the columns of a D x n matrix. Sample k depends only on the seed and on `first + k`, so
several calls can generate parts of one sequence.

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

Returns log q(theta) in nats for a vector, or for each column of a D x n matrix.

# Examples
```julia
logpdf(q, mean(q))
logpdf(q, rand(q, 3; seed = 1))  # 3 values
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

Returns the log determinant of the covariance matrix, in nats.

# Examples
```julia
logdetcov(LowRankPosterior(10, 0))  # 0.0
```
"""
logdetcov(q::Posterior) = read_out(out -> LibBDL.bdl_posterior_log_det_covariance(handle(q), out), Float64)

"""
    entropy(posterior)

Returns the differential entropy in nats.

# Examples
```julia
entropy(LowRankPosterior(2, 0))  # log(2pi) + 1
```
"""
entropy(q::Posterior) = read_out(out -> LibBDL.bdl_posterior_entropy(handle(q), out), Float64)

"""
    kldivergence(q, p)
    kldivergence(q, precision)

Returns the Kullback-Leibler divergence KL(q, p) in nats. `p` is a posterior of any family, or a prior N(0, 1 / precision) given by one
precision or by D precisions.

# Examples
```julia
kldivergence(LowRankPosterior(10, 0), 1)  # 0.0: N(0, I) and itself
```
"""
kldivergence(q::Posterior, p::Posterior) =
    read_out(out -> LibBDL.bdl_posterior_kl(handle(q), handle(p), out), Float64)
kldivergence(q::Posterior, precision::Union{Real,AbstractVecOrMat}) =
    read_out(out -> LibBDL.bdl_posterior_kl_prior(handle(q), look_row(precision), out), Float64)
