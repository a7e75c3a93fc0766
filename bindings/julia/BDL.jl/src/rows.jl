# Weights and offsets of rows, which the library takes as the last columns of y and of X.

"""
    set_row_weights!(model, given = true)

Says whether rows have weights: the last column of Y wherever it is passed, for a model that has no optimizer yet. A row of weight 2
counts as if it stood there twice, and a row of weight 0 as if it did not. With the likelihood `:bernoulli` the weight is a number of
trials, and the target the share of successes, from 0 to 1.

# Examples
```julia
trials = set_row_weights!(Model((1, 1); likelihood = :bernoulli))
has_row_weights(trials)  # true
```
"""
set_row_weights!(model::Model, given::Bool = true) =
    (check(LibBDL.bdl_model_set_row_weights(unused(handle(model)), given)); model)

"""
    has_row_weights(model)

Returns whether the last column of Y is a weight ([`set_row_weights!`](@ref)).

# Examples
```julia
has_row_weights(Model((6, 1)))  # false
```
"""
has_row_weights(model::Model) = LibBDL.bdl_model_has_row_weights(alive(model)) == 1

"""
    set_offsets!(model, given = true)

Says whether rows have offsets: the last columns of X wherever it is passed, one for each output (for each target of a
`:heteroscedastic` model), which are added to the outputs. They are in the units of y for real numbers, the log of the exposure for
counts. For a model that has no optimizer yet.

# Examples
```julia
rate = set_offsets!(Model((1, 1); likelihood = :poisson))
evaluate(rate, [0.0, 3.0], [5.0 0.25])  # 3.25
```
"""
set_offsets!(model::Model, given::Bool = true) = (check(LibBDL.bdl_model_set_offsets(unused(handle(model)), given)); model)

"""
    noffsets(model)

Returns the number of offsets of a row, columns of X behind the inputs ([`set_offsets!`](@ref)).

# Examples
```julia
noffsets(Model((6, 1)))  # 0
```
"""
noffsets(model::Model) = Int(LibBDL.bdl_model_offset_count(alive(model)))

"The weights of n rows as numbers, or nothing."
checked_weights(::Nothing, n) = nothing
function checked_weights(weights, n)
    weights isa AbstractVector || throw(ShapeError("weights is $(summary_of(weights)); it must be a vector with a number for each row"))
    length(weights) == n || throw(ShapeError("weights has $(length(weights)) values, expected $n, one for each row"))
    found = converted(weights)
    wrong = findfirst(w -> !(isfinite(w) && w >= 0), found)
    wrong === nothing || throw(InvalidArgumentError("weights[$wrong] is $(found[wrong]); it must be a finite number of at least 0"))
    n == 0 || any(!iszero, found) || throw(InvalidArgumentError("all weights are 0; one of them must be positive"))
    return found
end

"The offsets of n rows as a matrix, or nothing; one number is that of all rows."
checked_offset(::Nothing, n) = nothing
checked_offset(offset::Real, n) = checked_offset(fill(Float64(offset), n), n)
function checked_offset(offset, n)
    offset isa AbstractVecOrMat || throw(ShapeError("offset is $(summary_of(offset)); it must be a vector or a matrix"))
    size(offset, 1) == n || throw(ShapeError("offset has $(size(offset, 1)) rows, expected $n"))
    found = reshape(converted(offset), n, size(offset, 2))
    wrong = findfirst(!isfinite, found)
    wrong === nothing || throw(InvalidArgumentError("offset is $(found[wrong]) in row $(wrong[1]); it must be a finite number"))
    return found
end

"X with offsets as its last columns, in single precision where X has no more."
with_offset(X, ::Nothing) = X
function with_offset(X, offset)
    T = eltype(X) <: Union{Float32,UInt8} ? Float32 : Float64
    return hcat(T === Float64 ? converted(X) : convert(Array{T}, X), convert(Matrix{T}, offset))
end

"Targets with weights as their last column."
with_weights(y, ::Nothing) = y
with_weights(y, weights) = hcat(converted(y), weights)

"The rows of weight 0 are none."
function present_rows(X, y, weights, offset)
    (weights === nothing || !any(iszero, weights)) && return X, y, weights, offset
    present = findall(!iszero, weights)
    return rows_of(X, present), selected(y, present), weights[present], selected(offset, present)
end

selected(::Nothing, numbers) = nothing
selected(values::AbstractVector, numbers) = values[numbers]
selected(values::AbstractMatrix, numbers) = values[numbers, :]

"Weights and offsets that the model of a fitted estimator takes: 1 and 0 where none are given."
function known_weights(m, weights, n)
    has_row_weights(m.model) && return weights === nothing ? ones(n) : checked_weights(weights, n)
    weights === nothing || throw(InvalidArgumentError("weights are given, but training was without: fit again, with weights"))
    return nothing
end

function known_offset(m, offset, n)
    expected = noffsets(fitted(m).model)
    if expected == 0
        offset === nothing || throw(InvalidArgumentError("offset is given, but training was without: fit again, with offset"))
        return nothing
    end
    offset === nothing && return zeros(n, expected)
    found = checked_offset(offset, n)
    size(found, 2) == expected || throw(ShapeError("offset has $(size(found, 2)) columns, expected $expected"))
    return found
end

"Tells a new model what rows have."
function tell_rows!(model, has_weights, offsets)
    has_weights && set_row_weights!(model)
    offsets == 0 && return model
    set_offsets!(model)
    noffsets(model) == offsets ||
        throw(ShapeError("offset has $offsets columns, expected $(noffsets(model)), one for each output"))
    return model
end

"Real targets without their offsets; a wrong number of these is refused with the model."
without_offset(y, ::Nothing) = y
without_offset(y, offset) = size(y, 2) == size(offset, 2) ? converted(y) .- reshape(offset, size(y)) : y

"Whether targets are shares of successes: real numbers from 0 to 1 of which one is neither."
are_shares(y) = !are_labels(y) && all(v -> !ismissing(v) && 0 <= v <= 1, y) && any(v -> !isinteger(v), y)

"A quantile of values that stand there as often as their weights say; between two of them only for whole weights."
function weighted_quantile(values, weights, level)
    order = sortperm(values)
    sorted, ends = values[order], cumsum(weights[order])
    all(isinteger, weights) || return sorted[min(searchsortedfirst(ends, level * ends[end]), length(sorted))]
    place = level * (ends[end] - 1)
    below, above = (sorted[searchsortedlast(ends, at)+1] for at in (floor(place), min(floor(place) + 1, ends[end] - 1)))
    return below + (place - floor(place)) * (above - below)
end
