# Targets of any type, as the numbers that a likelihood expects.

"Whether the values are labels rather than numbers to be regressed on: anything but real numbers, and truth values."
are_labels(y) = !(nonmissingtype(eltype(y)) <: Real) || nonmissingtype(eltype(y)) <: Bool || !all_real(y)

all_real(y) = isconcretetype(nonmissingtype(eltype(y))) || all(v -> v isa Union{Real,Missing}, y)

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
    return Int32[get(() -> throw(LabelError("$(repr(label)) is not one of the classes $(repr(classes))")), numbers, label)
                 for label in labels]
end

"Classes of a classification of one label per example; `nothing` for other likelihoods and for 0/1 matrices."
function classes_for(likelihood::Symbol, y::AbstractVecOrMat)
    (likelihood in (:bernoulli, :categorical) && y isa AbstractVector) || return nothing
    found = known_classes(y)
    length(found) >= 2 || throw(LabelError("there is one class only, $(repr(found))"))
    likelihood === :bernoulli && length(found) > 2 &&
        throw(LabelError("bernoulli has two classes, the labels have $(length(found)): use likelihood = :categorical"))
    return found
end
