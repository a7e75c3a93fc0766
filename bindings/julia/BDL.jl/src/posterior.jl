"""
    Posterior(D; family = :low_rank, rank = min(5, D), dtype = Float64)
    Posterior(model; family = :low_rank, rank = min(5, D), input_rate = 0, hidden_rate = 0.1)

A Gaussian posterior q over D parameters, or over those of a model, N(0, I) at first and blank: training initialises it.

- `:low_rank`: precision U U' + diag(d) with U of `rank` columns; rank 0 is diagonal
- `:full`: dense precision; `:full_moment`, `:diagonal_moment`: steps change the covariance instead
- `:layerwise_full`: dense precision within each layer of the model, or within blocks, whose sizes are then given for D
- `:low_rank_moment`: covariance W W' + diag(s) with W of `rank` columns; `:layerwise_low_rank_moment`: one within each layer
  of the model
- `:kronecker`: a Kronecker-factored precision within each dense layer and convolution of the model
- `:dropout`: no Gaussian, but a network's weights under random masks of its units; it needs the model

In Julia a vector of parameters is a column: `rand(q, n)` is D x n, as in Distributions.

# Examples
```julia
q = Posterior(Model((6, 50, 1)); rank = 5)
length(mean(q)), size(rand(q, 10))  # (401, (401, 10))
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

A [`Posterior`](@ref) of family `:low_rank` and rank L.

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

Rank L of a low-rank posterior, D of a full one, 0 of others.

# Examples
```julia
rank(LowRankPosterior(100, 5))  # 5
```
"""
rank(q::Posterior) = Int(LibBDL.bdl_posterior_rank(alive(q)))

"""
    family(posterior)

`:low_rank`, `:full`, `:full_moment`, `:diagonal_moment`, `:layerwise_full`, `:low_rank_moment`,
`:layerwise_low_rank_moment`, `:kronecker` or `:dropout`.

# Examples
```julia
family(Posterior(3; family = :full))  # :full
```
"""
family(q::Posterior) = symbol(FAMILIES, LibBDL.bdl_posterior_family(alive(q)))

"""
    isblank(posterior)

Whether neither you nor training has touched it: an optimizer will initialise it.

# Examples
```julia
isblank(Posterior(3))  # true
```
"""
isblank(q::Posterior) = LibBDL.bdl_posterior_is_blank(alive(q)) != 0

"""
    has_covariance(posterior)

Whether there is a covariance. A mode has none: training by "map" or "sgd" finds a mean and nothing else. What asks for the
covariance then throws an `UnsupportedError`.

# Examples
```julia
has_covariance(Posterior(3))  # true
```
"""
has_covariance(q::Posterior) = LibBDL.bdl_posterior_has_covariance(alive(q)) != 0

"""
    dropout_rates(posterior)

The rates `(input, hidden)` of a dropout posterior.

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
    as_diagonal(posterior)

The same Gaussian in full moment parameters; independent parameters with the same means and variances.

# Examples
```julia
as_diagonal(q)
```
"""
as_full(q::Posterior) = Posterior(create(out -> LibBDL.bdl_posterior_as_full(handle(q), out), bdl_posterior))

"The same means and variances without covariances: see [`as_full`](@ref)."
as_diagonal(q::Posterior) = Posterior(create(out -> LibBDL.bdl_posterior_as_diagonal(handle(q), out), bdl_posterior))

"""
    copy(posterior)

An independent copy; `deepcopy` is the same. Optimizers, with their model and posterior, can be copied too.

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

Sets the Gaussian; each family has its own arguments. `low_rank` (D x L) may be left out: U = 0.

# Examples
```julia
q = set!(LowRankPosterior(3, 0); mean = [1, 2, 3], diagonal = [4, 4, 4])
std(q)  # [0.5, 0.5, 0.5]
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

All that a posterior consists of, by name: the mean, and its family's vectors and matrices.

# Examples
```julia
first.(tensors(Posterior((2, 1))))  # ["mean", "block0.precision", "block0.factor", "block1.precision", "block1.factor"]
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

Sets tensors, pairs of a name and an array, all or, on an error, none. Those that are not named stay; a factor follows from
its matrix and may be left out.

# Examples
```julia
q = Posterior((2, 1))
set_tensors!(q, ["mean" => [1, 2, 3], "block1.precision" => fill(4, 1, 1)])
std(q)  # [1.0, 1.0, 0.5]
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

One natural-gradient step from gradient rows of -log p (n x D, one per example), without a model. `scale` is N / n for n
rows out of a data set of N; `prior_precision` is one number or D.

# Examples
```julia
q = LowRankPosterior(10, 2)
update!(q, randn(5, 10); learning_rate = 0.1, curvature_rate = 0.1)
```
"""
function update!(q::Posterior, rows; scale::Real = 1, learning_rate::Real, curvature_rate::Real, prior_precision = 1)
    check(LibBDL.bdl_posterior_update(unused(handle(q)), look(rows), scale, learning_rate, curvature_rate,
        look_row(prior_precision)))
    return q
end

describe(io::IO, q::Posterior) =
    print(io, "Posterior($(length(q)) parameters, $(family(q)), rank $(rank(q)), $(dtype(q))$(isblank(q) ? ", blank" : ""))")
