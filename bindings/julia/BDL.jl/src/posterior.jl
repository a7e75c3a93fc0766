"""
    Posterior(D; family = :low_rank, rank = min(5, D), dtype = Float64)
    Posterior(model; family = :low_rank, rank = min(5, D), input_rate = 0,
              hidden_rate = 0.1)

Creates a posterior q over D parameters, or over the parameters of a model. It is N(0, I) and uninitialised at first; training
initialises it.

- `:low_rank`: the precision matrix is U U' + diag(d), where U has `rank` columns; rank 0 means independent parameters
- `:full`: a full precision matrix
- `:full_moment`, `:diagonal_moment`: a full covariance matrix, or variances; training changes the covariance instead of the
  precision
- `:layerwise_full`: a full precision matrix for each layer of the model, or for each block of parameters (then give the sizes of the
  blocks in place of D)
- `:low_rank_moment`: the covariance matrix is W W' + diag(s), where W has `rank` columns; `:layerwise_low_rank_moment`: such a
  covariance for each layer of the model
- `:kronecker`: a Kronecker-factored precision for each dense layer and convolution of the model
- `:dropout`: no Gaussian, but the weights of a network under random masks of its units; it needs the model

In Julia a vector of parameters is a column: `rand(q, n)` is D x n, as in Distributions.jl.

# Examples
```julia
posterior = Posterior(Model((6, 50, 1)); rank = 5)
length(mean(posterior)), size(rand(posterior, 10))  # (401, (401, 10))
```
"""
struct Posterior <: Owner
    handle::bdl_posterior
    Posterior(handle::bdl_posterior) = new(handle)
end

function Posterior(D::Integer; family = :low_rank, rank::Integer = min(5, D), dtype = Float64)
    T, wanted = float_number(dtype), symbol(FAMILIES, number(FAMILIES, family))
    return Posterior(create(bdl_posterior) do out
        wanted === :low_rank ? LibBDL.bdl_posterior_create_low_rank(T, D, rank, out) :
        wanted === :full ? LibBDL.bdl_posterior_create_full(T, D, out) :
        wanted === :full_moment ? LibBDL.bdl_posterior_create_full_moment(T, D, out) :
        wanted === :diagonal_moment ? LibBDL.bdl_posterior_create_diagonal_moment(T, D, out) :
        wanted === :layerwise_full ? LibBDL.bdl_posterior_create_blockwise_full(T, Int64[D], 1, out) :
        wanted === :low_rank_moment ? LibBDL.bdl_posterior_create_low_rank_moment(T, D, rank, out) :
        throw(InvalidArgumentError("a $wanted posterior needs its model: Posterior(model; family = :$wanted)"))
    end)
end

function Posterior(sizes::Union{Tuple,AbstractVector{<:Integer}}; family = :layerwise_full, dtype = Float64)
    Symbol(family) === :layerwise_full ||
        throw(InvalidArgumentError("a $(family) posterior has a number of parameters, not sizes of blocks"))
    blocks = Int64[sizes...]
    return Posterior(create(bdl_posterior) do out
        LibBDL.bdl_posterior_create_blockwise_full(float_number(dtype), blocks, length(blocks), out)
    end)
end

function Posterior(model::Model; family = :low_rank, rank::Integer = min(5, nparameters(model)),
    input_rate::Real = estimator_default(:input_rate), hidden_rate::Real = estimator_default(:hidden_rate))
    Symbol(family) === :layerwise_full && return Posterior(create(bdl_posterior) do out
        LibBDL.bdl_posterior_create_layerwise_full(handle(model), out)
    end)
    Symbol(family) === :layerwise_low_rank_moment && return Posterior(create(bdl_posterior) do out
        LibBDL.bdl_posterior_create_layerwise_low_rank_moment(handle(model), rank, out)
    end)
    Symbol(family) === :kronecker && return Posterior(create(bdl_posterior) do out
        LibBDL.bdl_posterior_create_kronecker(handle(model), out)
    end)
    Symbol(family) === :dropout ||
        return Posterior(nparameters(model); family = family, rank = rank, dtype = dtype(model))
    return Posterior(create(bdl_posterior) do out
        LibBDL.bdl_posterior_create_dropout(handle(model), input_rate, hidden_rate, out)
    end)
end

"""
    LowRankPosterior(D, L; dtype = Float64)

Creates a [`Posterior`](@ref) of family `:low_rank` and rank L.

# Examples
```julia
rank(LowRankPosterior(100, 5))  # 5
```
"""
LowRankPosterior(D::Integer, L::Integer; dtype = Float64) = Posterior(D; rank = L, dtype = dtype)

Base.length(q::Posterior) = Int(LibBDL.bdl_posterior_dimension(alive(q)))
dtype(q::Posterior) = dtype_of(LibBDL.bdl_posterior_dtype(alive(q)))

"""
    rank(posterior)

Returns the rank L of a low-rank posterior, D of a full one, and 0 of other families.

# Examples
```julia
rank(LowRankPosterior(100, 5))  # 5
```
"""
rank(q::Posterior) = Int(LibBDL.bdl_posterior_rank(alive(q)))

"""
    family(posterior)

Returns the family of a posterior: `:low_rank`, `:full`, `:full_moment`, `:diagonal_moment`, `:layerwise_full`, `:low_rank_moment`,
`:layerwise_low_rank_moment`, `:kronecker` or `:dropout`.

# Examples
```julia
family(Posterior(3; family = :full))  # :full
```
"""
family(q::Posterior) = symbol(FAMILIES, LibBDL.bdl_posterior_family(alive(q)))

"""
    isblank(posterior)

Returns true if neither you nor training has changed the posterior. An optimizer initialises such a posterior.

# Examples
```julia
isblank(Posterior(3))  # true
```
"""
isblank(q::Posterior) = LibBDL.bdl_posterior_is_blank(alive(q)) != 0

"""
    has_covariance(posterior)

Returns true if the posterior has a covariance. Training by "map" or "sgd" finds a single point, which has no covariance. Functions of
the covariance then throw an [`UnsupportedError`](@ref).

# Examples
```julia
has_covariance(Posterior(3))  # true
```
"""
has_covariance(q::Posterior) = LibBDL.bdl_posterior_has_covariance(alive(q)) != 0

"""
    dropout_rates(posterior)

Returns the rates `(input, hidden)` of a dropout posterior.

# Examples
```julia
dropout_rates(Posterior(model; family = :dropout)).hidden  # 0.1
```
"""
function dropout_rates(q::Posterior)
    input, hidden = Ref{Float64}(), Ref{Float64}()
    check(LibBDL.bdl_posterior_dropout_rates(handle(q), input, hidden))
    return (input = input[], hidden = hidden[])
end

"""
    as_full(posterior)

Returns a Gaussian posterior with the same mean and the same covariance matrix, of family `:full_moment`.

# Examples
```julia
family(as_full(q))  # :full_moment
```
"""
as_full(q::Posterior) = Posterior(create(out -> LibBDL.bdl_posterior_as_full(handle(q), out), bdl_posterior))

"""
    as_diagonal(posterior)

Returns a posterior with the same means and variances and without covariances.

# Examples
```julia
var(as_diagonal(q)) ≈ var(q)  # true
```
"""
as_diagonal(q::Posterior) = Posterior(create(out -> LibBDL.bdl_posterior_as_diagonal(handle(q), out), bdl_posterior))

"""
    copy(posterior)

Returns an independent copy; `deepcopy` does the same. You can also copy optimizers, together with their model and posterior.

# Examples
```julia
before = copy(q)
step!(optimizer, X, y)
kldivergence(q, before)
```
"""
Base.copy(q::Posterior) = Posterior(create(out -> LibBDL.bdl_posterior_copy(handle(q), out), bdl_posterior))

"""
    set!(posterior; mean, low_rank, diagonal)    # :low_rank, :low_rank_moment
    set!(posterior; mean, precision)             # :full
    set!(posterior; mean, covariance)            # :full_moment
    set!(posterior; mean, variance)              # :diagonal_moment
    set!(posterior; mean)                        # :dropout, layerwise ones (see set_tensors!)

Sets the mean and the covariance; each family has its own keywords. `low_rank` (D x L) is 0 if you leave it out.

# Examples
```julia
given = set!(LowRankPosterior(3, 0); mean = [1, 2, 3], diagonal = [4, 4, 4])
std(given)  # [0.5, 0.5, 0.5]
```
"""
function set!(q::Posterior; mean, parts...)
    h, kind, mu = unused(handle(q)), family(q), look_row(mean)
    take(names...) = take_parts(kind, values(parts), names)
    if kind === :low_rank
        U, d = take(:low_rank, :diagonal)
        check(LibBDL.bdl_posterior_set_low_rank(h, mu, look_or_none(U), look_row(d)))
    elseif kind === :low_rank_moment
        W, s = take(:low_rank, :diagonal)
        check(LibBDL.bdl_posterior_set_low_rank_moment(h, mu, look_or_none(W), look_row(s)))
    elseif kind === :full
        check(LibBDL.bdl_posterior_set_full(h, mu, look(take(:precision)[1])))
    elseif kind === :full_moment
        check(LibBDL.bdl_posterior_set_full_moment(h, mu, look(take(:covariance)[1])))
    elseif kind === :diagonal_moment
        check(LibBDL.bdl_posterior_set_diagonal_moment(h, mu, look_row(take(:variance)[1])))
    else
        take()
        kind === :dropout || return set_tensors!(q, ["mean" => mean])
        check(LibBDL.bdl_posterior_set_dropout(h, mu))
    end
    return q
end

"The named parts that a family has; only `low_rank` may be left out."
function take_parts(kind, given::NamedTuple, names)
    for name in keys(given)
        name in names || throw(InvalidArgumentError("set!: a $kind posterior has no $name"))
    end
    return map(names) do name
        haskey(given, name) || name === :low_rank || throw(InvalidArgumentError("set!: a $kind posterior needs its $name"))
        get(given, name, nothing)
    end
end

"""
    tensors(posterior)

Returns all parts of a posterior as pairs of a name and an array: the mean, and the vectors and matrices of its family.

# Examples
```julia
first.(tensors(Posterior((2, 1))))
```
"""
function tensors(q::Posterior)
    name, rows, cols, kind = Ref{Ptr{UInt8}}(), Ref{Int64}(), Ref{Int64}(), Ref{Int32}()
    return map(0:LibBDL.bdl_posterior_tensor_count(alive(q))-1) do i
        check(LibBDL.bdl_posterior_tensor_describe(handle(q), i, name, rows, cols, kind))
        found = unsafe_string(name[])
        values = filled(view -> LibBDL.bdl_posterior_get_tensor(handle(q), i, view), zeros(rows[], cols[]))
        found => last(split(found, '.')) in ("mean", "diagonal", "variance") ? vec(values) : values
    end
end

"""
    set_tensors!(posterior, tensors)

Sets parts of a posterior, pairs of a name and an array. On an error nothing changes. Parts that are not named stay; the factor of a
matrix follows from the matrix and can be left out.

# Examples
```julia
blockwise = Posterior((2, 1))
set_tensors!(blockwise, ["mean" => [1, 2, 3], "block1.precision" => fill(4, 1, 1)])
std(blockwise)  # [1.0, 1.0, 0.5]
```
"""
function set_tensors!(q::Posterior, tensors)
    given = [(String(name), look_row(values)) for (name, values) in pairs_of(tensors) if length(values) > 0]
    names = first.(given)
    h = unused(handle(q))
    GC.@preserve given names begin
        texts = [Base.unsafe_convert(Cstring, Base.cconvert(Cstring, name)) for name in names]
        matrices = bdl_matrix[view.matrix for (_, view) in given]
        check(LibBDL.bdl_posterior_set_tensors(h, Ptr{UInt8}[Ptr{UInt8}(text) for text in texts], matrices, length(given)))
    end
    return q
end

pairs_of(tensors::AbstractDict) = pairs(tensors)
pairs_of(tensors) = ((name, values) for (name, values) in tensors)

"""
    update!(posterior, rows; scale = 1, learning_rate, curvature_rate, prior_precision = 1)

Takes one natural-gradient step from rows of gradients of -log p (n x D, one for each example), without a model. `scale` is N / n for n
rows of a data set with N rows; `prior_precision` is one number, or one for each parameter.

# Examples
```julia
direct = LowRankPosterior(10, 2)
update!(direct, randn(5, 10); learning_rate = 0.1, curvature_rate = 0.1)
```
"""
function update!(q::Posterior, rows; scale::Real = 1, learning_rate::Real, curvature_rate::Real, prior_precision = 1)
    check(LibBDL.bdl_posterior_update(unused(handle(q)), look(rows), scale, learning_rate, curvature_rate,
        look_row(prior_precision)))
    return q
end

describe(io::IO, q::Posterior) =
    print(io, "Posterior($(length(q)) parameters, $(family(q)), rank $(rank(q)), $(dtype(q))$(isblank(q) ? ", blank" : ""))")
