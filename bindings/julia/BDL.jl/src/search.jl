"""
    Search(optimizer; folds = 5, epochs = 100, method = :monte_carlo,
           samples = 100, seed = 1, parallel_trials = 1)

Creates a search of option values by cross-validation, at random and by Bayesian optimisation. The search copies the optimizer for each
trial and does not change it. `parallel_trials` Bayesian trials are proposed and trained at the same time. A search without ranges
scores the optimizer's own options.

libbdl learns the noise and the prior by default. Set option `learn_prior` or `learn_noise` to 0 to search such a value instead.

# Examples
```julia
tuning = Search(optimizer; folds = 2, epochs = 5)
vary!(tuning, :learning_rate, 0.005, 0.1; scale = :log)
vary!(tuning, :curvature, ["mc-ef", "mc-ggn"])
run!(tuning, X, y; random = 2, bayesian = 1)
apply!(tuning, best(tuning).trial, optimizer)
```
"""
struct Search <: Owner
    handle::bdl_search
    ranges::Vector{Pair{Symbol,Any}}  # of each: the conversion of its value
    Search(handle::bdl_search) = new(handle, Pair{Symbol,Any}[])
end

function Search(optimizer::Optimizer; folds::Integer = 5, epochs::Integer = estimator_default(:epochs), method = :monte_carlo,
    samples::Integer = 100, seed::Integer = 1, parallel_trials::Integer = 1)
    how = number(PREDICT_METHODS, method)
    # The copy calls the same functions of the user's.
    search = Search(create(bdl_search, (handle(optimizer), nothing)) do out
        LibBDL.bdl_search_create(handle(optimizer), folds, epochs, how, samples, seed, out)
    end)
    check(LibBDL.bdl_search_set_parallel_trials(handle(search), parallel_trials))
    return search
end

"The handles that a run needs for itself: the search's own and its ranks'."
function trained(search::Search)
    ranks = handle(search).keep[2]
    return ranks === nothing ? (handle(search),) : (handle(search), ranks)
end

"""
    set_communicator!(search, ranks)

Lets several processes search together. All processes then call [`run!`](@ref) at the same time on equal data; the folds are distributed,
and all end with identical trials. Only process 0 calls the progress function. `nothing` returns to a search with one process.

# Examples
```julia
set_communicator!(Search(optimizer), nothing)
```
"""
function set_communicator!(search::Search, ranks::Union{Communicator,Nothing})
    h = unused(handle(search))
    theirs = ranks === nothing ? Ptr{bdl_communicator}(C_NULL) : unused(handle(ranks))
    check(LibBDL.bdl_search_set_communicator(h, theirs))
    handle(search).keep = (handle(search).keep[1], handle(ranks))
    return search
end

"""
    vary!(search, option, low, high; scale = :linear)
    vary!(search, option, words)

Varies an option in a search: a number between two limits, evenly or (`scale = :log`) evenly on the log scale, or a choice among words.
Call it before the first trial.

# Examples
```julia
ranges = Search(optimizer; folds = 3)
vary!(ranges, :learning_rate, 0.005, 0.1; scale = :log)
vary!(ranges, :schedule, ["cosine", "power"])
```
"""
function vary!(search::Search, option::Union{Symbol,AbstractString}, low::Real, high::Real; scale = :linear)
    h, name, how = unused(handle(search)), String(option), number(SCALES, scale)
    if option_type(name) == LibBDL.BDL_OPTION_INT
        check(LibBDL.bdl_search_add_int(h, name, option_int(name, low), option_int(name, high), how))
        push!(search.ranges, Symbol(name) => Int)
    else
        check(LibBDL.bdl_search_add_double(h, name, low, high, how))
        push!(search.ranges, Symbol(name) => identity)
    end
    return search
end

function vary!(search::Search, option::Union{Symbol,AbstractString}, words)
    listed = [option_word(String(option), word) for word in words]
    check(LibBDL.bdl_search_add_choice(unused(handle(search)), String(option), join(listed, " | ")))
    push!(search.ranges, Symbol(option) => k -> listed[Int(k)+1])
    return search
end

"""
    run!(search, X, Y; random = 5, bayesian = 25, progress = nothing, workers = nothing)

Adds trials to a search. libbdl calls `progress` with the search after each trial, and stops if it returns `true`. Ctrl-C raises
`InterruptException`. Complete trials are kept in each case.

`workers` threads train the folds; the results do not depend on this number. The default is the number in option `threads`. A custom
model has one worker.

# Examples
```julia
run!(search, X, y; random = 1, bayesian = 1,
     progress = s -> println(length(s), " trials"))
```
"""
function run!(search::Search, X, Y; random::Integer = 5, bayesian::Integer = 25, progress = nothing,
    workers::Union{Integer,Nothing} = nothing)
    workers === nothing || check(LibBDL.bdl_search_set_workers(unused(handle(search)), workers))
    x, y = progress === nothing ? (look(X), look(Y)) : (look_steadily(X), look_steadily(Y))
    report = progress === nothing ? C_NULL : LibBDL.@bdl_search_progress_fn(on_trial)
    guarded((), trained(search); progress = () -> progress(search)) do
        LibBDL.bdl_search_run(handle(search), x, y, random, bayesian, report, C_NULL)
    end
    return search
end

request_stop!(search::Search) = LibBDL.bdl_search_request_stop(alive(search))

Base.length(search::Search) = Int(LibBDL.bdl_search_trial_count(alive(search)))

"""
    trials(search)

Returns the trials: `(trial, values, score, standard_error, message)` of each. The score is the mean log predictive density of the rows
that were left out, in nats. A trial that failed has the score NaN and a message.

# Examples
```julia
[(t.values, t.score) for t in trials(search)]
```
"""
trials(search::Search) = [trial(search, k) for k in 1:length(search)]

function trial(search::Search, k::Integer)
    values = Vector{Float64}(undef, length(search.ranges))
    score, standard_error, message = Ref{Float64}(), Ref{Float64}(), Ref{Ptr{UInt8}}()
    place = isempty(values) ? NO_MATRIX : look_row(values)
    check(LibBDL.bdl_search_trial(handle(search), k - 1, place, score, standard_error, message))
    reason = numbered_from_1(GC.@preserve search unsafe_string(message[]))
    named = (; (name => convert(value) for ((name, convert), value) in zip(search.ranges, values))...)
    return (trial = Int(k), values = named, score = score[], standard_error = standard_error[], message = reason)
end

"""
    best(search)

Returns the trial with the highest score.

# Examples
```julia
best(search).values
```
"""
best(search::Search) = trial(search, 1 + read_out(out -> LibBDL.bdl_search_best(handle(search), out), Int64))

"""
    apply!(search, trial, optimizer)

Sets the options of an optimizer to the values of a trial, given by its number.

# Examples
```julia
apply!(search, best(search).trial, optimizer)
```
"""
function apply!(search::Search, trial::Integer, optimizer::Optimizer)
    number = numbers_from_0(trial, length(search), "apply!: trial")[1]
    check(LibBDL.bdl_search_apply(handle(search), number, unused(handle(optimizer))))
    return optimizer
end

"""
    folds(search, n)

Returns the number of the fold, from 1, for each of n rows.

# Examples
```julia
folds(search, 5)
```
"""
function folds(search::Search, n::Integer)
    n >= 0 || throw(InvalidArgumentError("folds: n is $n; it must be 0 or more"))
    numbers = filled(view -> LibBDL.bdl_search_folds(handle(search), view), Vector{Float64}(undef, n))
    return Int.(numbers) .+ 1
end

describe(io::IO, search::Search) = print(io, "Search(", length(search), " trials over ",
    isempty(search.ranges) ? "nothing" : join((string(range[1]) for range in search.ranges), ", "), ")")
