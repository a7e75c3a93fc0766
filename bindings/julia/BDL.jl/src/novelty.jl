# How unlike the training rows a row is.

"""
    novelty(m, X)
    novelty(members, X)

Returns for each row a score of how unlike the training rows it is, a vector. The score is the leverage of the row divided by the mean
leverage of the training rows; the leverage is the variance of the prediction that comes from the posterior. Compare it with
[`novelty_limit`](@ref).

# Examples
```julia
novelty(m, [Xtest[1:2, :]; 3 .* Xtest[1:2, :]]) .> novelty_limit(m)
```
"""
novelty(m::BayesianNetwork, X) = novelty([m; m.others], X)
function novelty(members::AbstractVector{<:BayesianNetwork}, X)
    usual = usual_leverage(known_leverages(members))
    return mean(leverages(m, rows_to_predict(m, X)) for m in members)[:, 1] ./ usual
end

usual_leverage(known) = size(known, 2) == 3 ? sum(known[:, 1] .* known[:, 3]) / sum(known[:, 3]) : mean(known[:, 1])

"""
    novelty_limit(m; false_alarms = 0.05)
    novelty_limit(members; false_alarms = 0.05)

Returns a limit for [`novelty`](@ref). About a share `false_alarms` of new rows like the training rows has a score above the limit.

# Examples
```julia
novelty_limit(m; false_alarms = 0.01) > novelty_limit(m)  # true
```
"""
novelty_limit(m::BayesianNetwork; false_alarms::Real = 0.05) = novelty_limit([m; m.others]; false_alarms = false_alarms)
function novelty_limit(members::AbstractVector{<:BayesianNetwork}; false_alarms::Real = 0.05)
    0 < false_alarms < 1 ||
        throw(InvalidArgumentError("novelty_limit: false_alarms is $false_alarms; it must be within (0, 1)"))
    known = known_leverages(members)
    limit = size(known, 2) == 3 ? weighted_quantile(known[:, 2], known[:, 3], 1 - false_alarms) : quantile(known[:, 2], 1 - false_alarms)
    return limit / usual_leverage(known)
end

"""
    learn_novelty!(m, X; weights = nothing)
    learn_novelty!(m, data::Dataset)

Sets the rows that [`novelty`](@ref) compares with. `fit` does it by itself, except for large networks and after an interrupted fit.

# Examples
```julia
learn_novelty!(m, X);
novelty(m, Xtest[1:2, :])
```
"""
function learn_novelty!(m::BayesianNetwork, X; weights = nothing)
    members = [m; m.others]
    foreach(check_has_covariance, members)
    counts = checked_weights(weights, row_count(X))
    for member in members
        member.leverages = some_leverages(member, X isa Dataset ? X : rows_to_predict(member, X), counts)
    end
    return m
end

no_leverages() = zeros(0, 2)
leverages(m::BayesianNetwork, X) = hcat(predict_leverage(fitted(m).model, m.posterior, X)...)

"Returns the leverages of the rows to compare with; for an ensemble, the mean over its members."
function known_leverages(members)
    isempty(members) && throw(InvalidArgumentError("novelty: there are no members"))
    foreach(check_has_covariance, members)
    any(m -> isempty(m.leverages), members) && throw(UnsupportedError("novelty needs leverages of training rows, which an estimator " *
        "of a large network, or an interrupted fit, does not have: call learn_novelty! with the training data"))
    return mean(m.leverages for m in members)
end

has_covariance(m::BayesianNetwork) = family(m.posterior) !== :dropout && !is_point(m)

function check_has_covariance(m)
    has_covariance(m) && return nothing
    what = family(m.posterior) === :dropout ? "a dropout posterior" : "method \"$(method(fitted(m)))\" finds a point, which"
    throw(UnsupportedError("there is no novelty: $what has no covariance: method \"laplace\", or that by default, finds one"))
end

"Trains, then keeps the leverages of the rows: where a stream goes on, of the last ones."
function with_leverages!(train, m, X, fresh, weights = nothing)
    goes_on = !fresh && describe_method(method(m.optimizer)).stream
    goes_on || (m.leverages = no_leverages())
    train()
    nparameters(m.model) * noutputs(m.model)^2 <= estimator_default(:novelty_numbers) && has_covariance(m) || return nothing
    goes_on || return m.leverages = some_leverages(m, X, weights)
    last, n = estimator_default(:novelty_stream_rows), row_count(X)
    numbers = max(1, n - last + 1):n
    found = leverages(m, rows_of(X, numbers))
    weights === nothing || (found = hcat(found, weights[numbers]))
    known = size(m.leverages, 2) < size(found, 2) ? hcat(m.leverages, ones(size(m.leverages, 1))) : m.leverages[:, 1:size(found, 2)]
    found = [known; found]
    m.leverages = found[max(1, end - last + 1):end, :]
    return nothing
end

"Leverages of rows at equal distances, as many as are kept, with their weights if they have some."
function some_leverages(m, X, weights)
    n = row_count(X)
    count = min(n, estimator_default(:novelty_rows))
    numbers = [(k - 1) * n ÷ count + 1 for k in 1:count]
    found = leverages(m, rows_of(X, numbers))
    X isa Dataset && X.row_weights && return hcat(found, last(read_rows(X, numbers))[:, end])
    return weights === nothing ? found : hcat(found, weights[numbers])
end

row_count(X) = size(X, 1)
row_count(data::Dataset) = nrows(data)
rows_of(X, numbers) = X[numbers, :]
rows_of(data::Dataset, numbers) = first(read_rows(data, numbers))
