# Cross-validation of estimators, and search of their options.

"""
    cross_validate(m, X, y; folds = 5, workers = nothing, weights = nothing,
                   offset = nothing)

Scores an estimator by cross-validation. Returns `(score, standard_error)`: the mean log predictive density of the rows that were left
out, in nats for each row, and its standard error. The estimator does not change. `workers` threads train the folds (`nothing`: as many
as BLAS uses); the results do not depend on this number. libbdl standardises by all rows, as [`fit!`](@ref) does.

# Examples
```julia
cross_validate(BayesianMLP(; epochs = 20), X, y; folds = 3, workers = 2).score
```
"""
function cross_validate(m::BayesianNetwork, X, y; folds::Integer = 5, workers::Union{Integer,Nothing} = nothing, weights = nothing,
    offset = nothing)
    m.settings.members == 1 ||
        throw(UnsupportedError("cross-validation is of one fit per fold, but members is $(m.settings.members): set members = 1"))
    search, x, targets = search_of(m, X, y, folds, 1, true, weights, offset)
    run!(search, x, targets; random = 1, bayesian = 0, workers = workers)
    found = best(search)
    return (score = found.score, standard_error = found.standard_error)
end

"""
    tune!(m, X, y, ranges; random = 5, bayesian = 25, parallel_trials = 1,
          folds = 5, workers = nothing, progress = isinteractive(),
          weights = nothing, offset = nothing)

Searches values of options by cross-validation ([`cross_validate`](@ref)), at random and by Bayesian optimisation, and fits the
estimator again with the best values, which become its settings. Returns the trials, as [`trials`](@ref) does.

- `ranges`: for each option `(low, high)`, `(low, high, :log)`, or a vector with the words of a choice
- `random`, `bayesian`: numbers of trials
- `parallel_trials`: number of Bayesian trials that are proposed and trained at the same time
- `workers`: number of threads; the results do not depend on it
- `progress`: `true`, or a function of the search after each trial; if it returns `true`, the search ends

libbdl learns the noise and the prior by default. Set option `learn_prior` or `learn_noise` to 0 to search such a value instead.

# Examples
```julia
tuned = BayesianMLP(; epochs = 20)
tune!(tuned, X, y, (learning_rate = (0.005, 0.1, :log),);
      random = 2, bayesian = 1, folds = 3, workers = 2, progress = false)
tuned.settings.options.learning_rate
```
"""
function tune!(m::BayesianNetwork, X, y, ranges; random::Integer = 5, bayesian::Integer = 25, parallel_trials::Integer = 1,
    folds::Integer = 5, workers::Union{Integer,Nothing} = nothing, progress = isinteractive(), weights = nothing, offset = nothing)
    named = [Symbol(name) => limits for (name, limits) in pairs(ranges)]
    with_noise = !any(first(range) === :initial_noise_precision for range in named)
    search, x, targets = search_of(m, X, y, folds, parallel_trials, with_noise, weights, offset)
    foreach(range -> vary_within!(search, range...), named)
    report = progress isa Bool ? (progress ? trial_line(random + bayesian) : nothing) : progress
    run!(search, x, targets; random = random, bayesian = bayesian, progress = report, workers = workers)
    progress === true && println(stderr)
    m.settings = merge(m.settings, (options = merge((; m.settings.options...), best(search).values),))
    forget!(m)
    fit!(m, X, y; progress = progress isa Bool && progress, weights = weights, offset = offset)
    return trials(search)
end

vary_within!(search, name, words::AbstractVector) = vary!(search, name, words)
vary_within!(search, name, limits::Tuple{Any,Any}) = vary!(search, name, limits...)
vary_within!(search, name, limits::Tuple{Any,Any,Any}) = vary!(search, name, limits[1], limits[2]; scale = limits[3])
vary_within!(search, name, limits) =
    throw(InvalidArgumentError("the range of $name is $(brief(limits)); it must be (low, high), (low, high, :log) or words"))

"A search from a blank estimator with the same settings, and the data as the library takes them."
function search_of(m::BayesianNetwork, X, y, folds, parallel_trials, with_noise, weights, offset)
    y isa AbstractVecOrMat || throw(ShapeError("y is $(summary_of(y)); it must be a vector or a matrix"))
    blank = typeof(m)(m.settings)
    image = images_of(blank, X)
    n = size(y, 1)
    x, y, counts, added = present_rows(example_rows(blank, X), y, checked_weights(weights, n), checked_offset(offset, n))
    build!(blank, x, y, image, counts, added; with_noise = with_noise)
    prototype = blank.optimizer
    search = Search(prototype; folds = folds, epochs = m.settings.epochs, method = prediction_method(prototype),
        samples = m.settings.samples, seed = m.settings.seed, parallel_trials = parallel_trials)
    return search, with_offset(x, added), with_weights(encoded_targets(blank, y), counts)
end

"A progress function that writes one line over and over."
trial_line(count) = search -> (print(stderr, "\rtrial ", length(search), " of ", count, "   "); nothing)
