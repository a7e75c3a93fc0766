"""
    Search(optimizer; folds = 5, epochs = 100, method = :monte_carlo, samples = 100, seed = 1, parallel_trials = 1)

A search of option values by cross-validation: at random, then by Bayesian optimisation. The optimizer is a prototype,
which is copied and never changed. What is searched should not be learned as well (options `learn_prior`,
`learn_noise`). `parallel_trials` Bayesian trials are proposed from the same scores, to be trained at the same time. Without
ranges the one trial, at random, scores the prototype's own options.

# Examples
```julia
search = Search(optimizer; epochs = 40)
vary!(search, :learning_rate, 0.005, 0.1; scale = :log)
vary!(search, :curvature, ["mc-ef", "mc-ggn"])
run!(search, X, y; random = 5, bayesian = 10)
apply!(search, best(search).trial, optimizer)
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

From now on [`run!`](@ref) is a call that all ranks make together, on the same data; the folds of the trials are dealt to the ranks, and all
end with the same trials, whatever their number. `progress` is called on rank 0. `nothing`: alone again.

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

Varies a real or whole-numbered option between limits, evenly or (`scale = :log`) by its logarithm, or a choice among
words. Ranges come before the first trial.

# Examples
```julia
search = Search(optimizer; folds = 3)
vary!(search, :learning_rate, 0.005, 0.1; scale = :log)
vary!(search, :schedule, ["cosine", "power"])
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

Adds trials. `progress` is called with the search after each; if it returns `true`, the run ends there.
Ctrl-C raises `InterruptException`. Trials are kept in each case: run what is missing.

`workers` threads train the folds, from now on; results do not depend on them. At first they are as many as option `threads` of the
prototype says. A model of your own has one.

# Examples
```julia
run!(search, X, y; random = 3, bayesian = 1, progress = s -> println(last(trials(s))))
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

What was tried and how it went: `(trial, values, score, standard_error, message)` of each; the score is the mean log
predictive density of the rows left out, NaN with a message where a trial failed.

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

The trial with the highest score.

# Examples
```julia
best(search).values
```
"""
best(search::Search) = trial(search, 1 + read_out(out -> LibBDL.bdl_search_best(handle(search), out), Int64))

"""
    apply!(search, trial, optimizer)

Sets an optimizer's options to the values of a trial, given by its number.

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

The fold, from 1, that each of n rows is in.

# Examples
```julia
left_out = findall(==(1), folds(search, size(X, 1)))
```
"""
function folds(search::Search, n::Integer)
    n >= 0 || throw(InvalidArgumentError("folds: n is $n; it must be 0 or more"))
    numbers = filled(view -> LibBDL.bdl_search_folds(handle(search), view), Vector{Float64}(undef, n))
    return Int.(numbers) .+ 1
end

describe(io::IO, search::Search) = print(io, "Search(", length(search), " trials over ",
    isempty(search.ranges) ? "nothing" : join((string(range[1]) for range in search.ranges), ", "), ")")
