# Targets of any type, as the numbers that a likelihood expects.

"Whether the values are labels rather than numbers to be regressed on: anything but real numbers, and truth values."
are_labels(y) = !(nonmissingtype(eltype(y)) <: Real) || nonmissingtype(eltype(y)) <: Bool || !all_real(y)

all_real(y) = isconcretetype(nonmissingtype(eltype(y))) || all(v -> v isa Union{Real,Missing}, y)

"Likelihoods of labels: of two, and of one of several."
const BINARY_LIKELIHOODS = (:bernoulli, :probit, :cloglog)
const CLASS_LIKELIHOODS = (BINARY_LIKELIHOODS..., :categorical, :ordinal)

"The likelihood that `:auto` means for targets."
function automatic_likelihood(y::AbstractVecOrMat)
    are_labels(y) || return :gaussian
    return y isa AbstractMatrix || length(known_classes(y)) <= 2 ? :bernoulli : :categorical
end

"The classes that occur, in order if they have one. Truth values are two classes, whichever occur."
function known_classes(y::AbstractVector)
    any(ismissing, y) && throw(LabelError("a label is missing"))
    eltype(y) <: Bool && return [false, true]
    found = unique(y)
    try
        return sort(found)
    catch e
        e isa MethodError || rethrow()
        return found  # not ordered: by first occurrence
    end
end

"Class numbers from 0 of labels."
function encoded(labels::AbstractVector, classes::AbstractVector)
    numbers = Dict(class => Int32(k - 1) for (k, class) in enumerate(classes))
    unknown(label) = throw(LabelError("$(brief(label)) is not one of the classes $(brief_list(classes))"))
    return Int32[get(() -> unknown(label), numbers, label) for label in labels]
end

"""
Classes of a classification of one label per example; `nothing` for other likelihoods and for 0/1 matrices. `keyword`: how the
estimator calls its likelihood.
"""
function classes_for(likelihood::Symbol, y::AbstractVecOrMat, keyword = "likelihood", has_weights = false)
    if !(likelihood in CLASS_LIKELIHOODS)
        label = findfirst(value -> !(value isa Union{Real,Missing}), y)
        label === nothing || throw(LabelError("y has labels, as $(brief(y[label])), and $keyword = $(repr(likelihood)) is for numbers: " *
                                              ":bernoulli, :categorical and :ordinal are for labels"))
        return nothing
    end
    y isa AbstractVector || return nothing
    if likelihood in BINARY_LIKELIHOODS && are_shares(y)
        has_weights || throw(LabelError("y has real numbers, as $(brief(y[findfirst(!isinteger, y)])): labels have two values; shares of " *
                                        "successes need weights, their numbers of trials"))
        return [0, 1]
    end
    found = known_classes(y)
    length(found) >= 2 || throw(LabelError("there is one class only, $(brief_list(found))"))
    check_are_classes(found, length(y), keyword)
    likelihood in BINARY_LIKELIHOODS && length(found) > 2 &&
        throw(LabelError("$likelihood has two classes, the labels have $(length(found)): use $keyword = :categorical"))
    return found
end

"Numbers to be regressed on have a class for nearly every row when they are taken as labels."
function check_are_classes(found, rows, keyword)
    length(found) > max(10, rows / 2) || return nothing
    many = "$(length(found)) different values in $rows rows"
    all(value -> value isa Real, found) && !all(isinteger, found) &&
        throw(LabelError("y has real numbers, $many, not classes: use $keyword = :gaussian"))
    all(is_text_of_number, found) &&
        throw(LabelError("y has texts of numbers, $many, not classes: pass parse.(Float64, y)"))
    @warn "y has a class for nearly every row: $many"
    return nothing
end

is_text_of_number(value) = value isa AbstractString && tryparse(Float64, value) !== nothing
