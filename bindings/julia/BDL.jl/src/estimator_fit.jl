# Making an estimator's network and training it.

"""
    fit(BayesianMLP, X, y; ...)
    fit(BayesianConv, X, y; ...)
    fit(BayesianGLM, X, y; ...)
    fit(T, data::Dataset; ...)

Creates and trains an estimator. The keywords are those of [`BayesianMLP`](@ref), [`BayesianConv`](@ref) and [`BayesianGLM`](@ref).

# Examples
```julia
fit(BayesianMLP, X, y; hidden = (20,), epochs = 60, progress = false)
```
"""
fit(::Type{T}, X, y; progress = isinteractive(), weights = nothing, offset = nothing, settings...) where {T<:BayesianNetwork} =
    fit!(T(; settings...), X, y; progress = progress, weights = weights, offset = offset)
fit(::Type{T}, data::Dataset; progress = isinteractive(), settings...) where {T<:BayesianNetwork} =
    fit!(T(; settings...), data; progress = progress)

"""
    fit!(m, X, y; epochs, progress = isinteractive(), weights = nothing,
         offset = nothing)
    fit!(m, data::Dataset; epochs, progress = isinteractive())

Trains an estimator on arrays or on a [`Dataset`](@ref), which need not fit in memory. A fitted estimator continues from its state, with
its standardisation and its classes.

- `epochs`: number of passes over the data
- `progress`: `true` for a line on stderr, or a function of the optimizer; if it returns `true`, training stops
- `weights`: a number for each row, at least 0. A fit that continues one with weights takes 1 without them
- `offset`: numbers that are added to the outputs. A fit that continues one with offsets takes 0 without them

The targets of a data set are numbers; labels are class numbers from 0, and need a `likelihood` of classes.

# Examples
```julia
fit!(m, X, y; epochs = 10, progress = false)
fit!(m, X, y; progress = o -> progress(o).epoch >= 20)
```
"""
function fit!(m::BayesianNetwork, X, y; epochs::Integer = m.settings.epochs, progress = isinteractive(), weights = nothing,
    offset = nothing)
    y isa AbstractVecOrMat || throw(ShapeError("y is $(summary_of(y)); it must be a vector or a matrix"))
    fresh = getfield(m, :optimizer) === nothing
    image, given = images_of(m, X), X
    X = example_rows(m, X)
    check_rows(X, y)
    of_rows = fresh ? checked_weights(weights, size(y, 1)) : known_weights(m, weights, size(y, 1))
    by_row = fresh ? checked_offset(offset, size(y, 1)) : known_offset(m, offset, size(y, 1))
    X, present, counts, added = present_rows(X, y, of_rows, by_row)
    fresh && build!(m, X, present, image, counts, added)
    learning(m, fresh) do optimizer
        targets = with_weights(encoded_targets(m, present), counts)
        rows = with_offset(X, added)
        m.observations, m.weights = size(present, 1), of_rows
        check_epochs(m, optimizer, epochs)
        with_leverages!(m, rows, fresh, counts) do
            learn!(optimizer, rows, targets, epochs, progress)
        end
        return (rows, targets)
    end
    others = (epochs = epochs, progress = false, weights = weights, offset = offset)
    return train_others!(other -> fit!(other, given, y; others...), m, fresh)
end

function fit!(m::BayesianNetwork, data::Dataset; epochs::Integer = m.settings.epochs, progress = isinteractive())
    ntargets(data) > 0 || throw(ShapeError("the data set has no targets"))
    fresh = getfield(m, :optimizer) === nothing
    fresh && build!(m, data)
    (data.row_weights, data.offsets) == (has_row_weights(m.model), noffsets(m.model)) || throw(InvalidArgumentError(
        "weights and offsets of the data set are not those of training: create it with row_weights and offsets as then"))
    learning(m, fresh) do optimizer
        m.classes === nothing || m.classes == 0:length(m.classes)-1 ||
            throw(LabelError("labels of a data set are 0, 1, ..., not the classes of former calls $(brief_list(m.classes))"))
        m.observations, m.weights = nrows(data), nothing
        check_epochs(m, optimizer, epochs)
        with_leverages!(m, data, fresh) do
            learn!(optimizer, data, epochs, progress)
        end
        return nothing
    end
    return train_others!(other -> fit!(other, data; epochs = epochs, progress = false), m, fresh)
end

"The members of an ensemble after the first, which the estimator itself is: each has another seed."
function train_others!(train, m::BayesianNetwork, fresh)
    fresh && empty!(m.others)
    for j in 1:m.settings.members-1
        known = j <= length(m.others)
        other = known ? m.others[j] : typeof(m)(merge(m.settings, (members = 1, noise = noise_of(m), seed = m.settings.seed + j)))
        train(other)
        known || push!(m.others, other)
    end
    return m
end

"The noise of a fitted estimator, which has been chosen for all members."
noise_of(m) = has_scale(likelihood(m.model)) ? likelihood(m.model) : m.settings.noise

"Model and posterior, or those of all members."
handles_of(m::BayesianNetwork) = isempty(m.others) ? (fitted(m).model, m.posterior) :
    ([member.model for member in [m; m.others]], [member.posterior for member in [m; m.others]])

"Methods for streams see each row once."
function check_epochs(m, optimizer, epochs)
    usual = estimator_default(m isa BayesianConv ? :image_epochs : :epochs)
    describe_method(method(optimizer)).stream && epochs != usual &&
        @warn "epochs is $epochs, but method \"$(method(optimizer))\" learns from each row once, whatever epochs is"
    return nothing
end

"Trains by `learn`, which returns the arrays that it has learned from, or nothing. An estimator without a step forgets the data again."
function learning(learn, m::BayesianNetwork, fresh)
    optimizer = m.optimizer
    warn_of_baseline(method(optimizer))
    rows = try
        learn(optimizer)
    finally
        fresh && BDL.progress(optimizer).step == 0 && forget!(m)
    end
    say_what_is_wrong(optimizer, rows)
    return m
end

"Rows of a data set that a stream has in memory."
const READ_TOGETHER = 4096

function learn!(optimizer, data::Dataset, epochs, progress)
    describe_method(method(optimizer)).stream || return shown(report -> fit!(optimizer, data; epochs = epochs, progress = report), progress)
    for first in 1:READ_TOGETHER:nrows(data)
        observe!(optimizer, read_rows(data, first:min(first + READ_TOGETHER - 1, nrows(data)))...)
    end
end

"Trains by epochs; a method for streams sees each row once, in order."
function learn!(optimizer, X, targets, epochs, progress)
    describe_method(method(optimizer)).stream && return observe!(optimizer, X, targets)
    shown(report -> fit!(optimizer, X, targets; epochs = epochs, progress = report), progress)
end

"Methods of which this session has said that they are baselines."
const CAUTIONED = Set{String}()

"The first fit by a baseline reports what it is for, and which condition of our test it missed."
function warn_of_baseline(name)
    caution = describe_method(name).caution
    (isempty(caution) || name in CAUTIONED) && return nothing
    push!(CAUTIONED, name)
    @warn caution
    return nothing
end

function say_what_is_wrong(optimizer, rows)
    message = diagnose(optimizer).message
    isempty(message) && rows !== nothing && (message = diagnose(optimizer, rows...).message)
    isempty(message) || @warn message
    return nothing
end

function forget!(m::BayesianNetwork)
    m.optimizer = m.classes = nothing
    empty!(m.others)
    m.leverages, m.weights = no_leverages(), nothing
    return m
end

"Rows, columns and channels of images; `nothing` of features. A fitted estimator takes those that it knows."
images_of(::BayesianNetwork, X) = nothing
function images_of(m::BayesianConv, X)
    fitted_to = getfield(m, :optimizer) === nothing ? nothing : m.model
    image = image_shape(X, m.settings.layout, fitted_to === nothing ? m.settings.image : image_shape(fitted_to))
    fitted_to === nothing || image == image_shape(fitted_to) ||
        throw(ShapeError("X has $(in_words(image)), expected $(in_words(image_shape(fitted_to)))"))
    return image
end

"One example per row."
example_rows(::BayesianNetwork, X) = X
function example_rows(m::BayesianConv, X)
    images_of(m, X)  # refuses those of another shape
    return image_rows(X, m.settings.layout)
end

check_rows(X, y) = X isa AbstractVecOrMat && size(X, 1) != size(y, 1) && throw(ShapeError(string("X has ", size(X, 1),
    " rows, y has ", size(y, 1), ": X has one example per row", size(X, 2) == size(y, 1) ? ", as its transpose here" : "")))

"How an estimator calls its likelihood."
likelihood_keyword(m::BayesianNetwork) = m isa BayesianGLM ? "family" : "likelihood"

"Model, posterior and optimizer for the data's shape."
function build!(m::BayesianNetwork, X, y::AbstractVecOrMat, image, weights = nothing, offset = nothing; with_noise::Bool = true)
    X isa AbstractVecOrMat || throw(ShapeError("X is $(summary_of(X)); it must be a matrix"))
    s = m.settings
    word = s.likelihood === :auto ? automatic_likelihood(y) : s.likelihood
    found = classes_for(word, y, likelihood_keyword(m), weights !== nothing)
    targets = word === :categorical ? class_count(found, y) : size(y, 2)
    reduced = word === :gaussian ? without_offset(y, offset) : y
    likelihood = noisy(word, chosen_noise(m, word, size(X, 1), size(X, 2), targets, image, reduced))
    model = model_for(m, likelihood, size(X, 2), targets, image)
    likelihood === :ordinal && set_levels!(model, class_count(found, y))
    tell_rows!(model, weights !== nothing, offset === nothing ? 0 : size(offset, 2))
    rows, values = with_offset(X, offset), with_weights(encoded_targets(found, y), weights)
    s.standardize && !learns_scales(model, size(X, 1), s) &&
        standardize_as!(model, s.prior, rows, has_scale(likelihood) || weights !== nothing ? values : nothing)
    optimizer = optimizer_for(model, size(X, 1), s, found)
    with_noise && start_noise!(optimizer, offset === nothing ? values : Dataset(rows, values))
    m.classes, m.vector, m.optimizer = found, y isa AbstractVector, optimizer
    return m
end

"Whether a stream learns the scales, which a first block of few rows does not have."
learns_scales(model, n, s) = !(s.prior isa BayesianNetwork) &&
    describe_method(suggest_training(model, n; method = s.method, family = s.posterior).method).stream

"Creates model, posterior and optimizer for a data set, whose targets are numbers."
function build!(m::BayesianNetwork, data::Dataset)
    s = m.settings
    word = s.likelihood === :auto ? :gaussian : s.likelihood
    found = word in CLASS_LIKELIHOODS && ntargets(data) - data.row_weights == 1 ? numbered_classes(word, data) : nothing
    inputs, columns = ninputs(data) - data.offsets, ntargets(data) - data.row_weights
    targets = word === :categorical ? class_count(found, data) : columns
    image = images_of(m, data)
    noise = chosen_noise(m, word, nrows(data), inputs, targets, image, nothing)
    model = tell_rows!(model_for(m, noisy(word, noise), inputs, targets, image), data.row_weights, data.offsets)
    word === :ordinal && set_levels!(model, class_count(found, data))
    s.standardize && !learns_scales(model, nrows(data), s) && standardize_as!(model, s.prior, data)
    optimizer = optimizer_for(model, nrows(data), s, found)
    start_noise!(optimizer, data)
    m.classes, m.vector, m.optimizer = found, columns == 1, optimizer
    return m
end

function numbered_classes(likelihood, data)
    smallest, largest = first.(target_range(data))
    likelihood === :bernoulli && data.row_weights && 0 <= smallest && largest <= 1 && return [0, 1]  # shares of successes
    isinteger(largest) && smallest in (0, 1) && largest >= 1 || throw(LabelError(
        "labels of a data set are the numbers 0, 1, ... of classes, its targets lie between $smallest and $largest"))
    likelihood in BINARY_LIKELIHOODS && largest > 1 &&
        throw(LabelError("$likelihood has two classes, the labels go up to $largest: use likelihood = :categorical"))
    return collect(0:Int(largest))
end

"Posterior and optimizer of n rows, as the settings say or suits the model."
function optimizer_for(model, n, s, classes = nothing)
    training = suggest_training(model, n; method = s.method, family = wanted_family(s))
    optimizer = Optimizer(model, posterior_for(model, training, s), training.method, n; seed = s.seed)
    set_text!(optimizer, training.options)
    s.standardize || set!(optimizer; stream_scales = "given")
    set!(optimizer; s.options...)
    if is_normal_prior(s.prior)
        give_normals!(optimizer, s.prior, heads_of(model, classes))
    elseif s.prior !== nothing
        set_prior!(optimizer, posterior_of(s.prior))
    end
    return optimizer
end

"Families that have a rank."
const RANKED = (:layerwise_low_rank_moment, :low_rank, :low_rank_moment)

"The family that the settings ask for: a rank alone asks for one that has a rank, of those of the method."
function wanted_family(s)
    (s.rank === nothing || s.posterior !== nothing) && return s.posterior
    families = s.method === nothing ? [:low_rank, :diagonal] : describe_method(s.method).families
    s.rank == 0 && :diagonal in families && return :diagonal
    found = findfirst(in(families), RANKED)
    return found === nothing ? :low_rank : RANKED[found]
end

"""
The noise that the library suggests where the settings leave it open, with a warning of the outlier that makes it Student's t. A
whole network has the outputs of its means.
"""
function chosen_noise(m, likelihood, n, inputs, targets, image, y)
    s = m.settings
    s.noise === :auto || return s.noise
    likelihood === :gaussian && !(m isa BayesianConv && is_whole(s.network)) || return :gaussian
    haskey(s.options, :heteroscedastic_from) && return :heteroscedastic  # it has no other meaning
    optimizer = optimizer_for(model_for(m, :gaussian, inputs, targets, image), n, merge(s, (prior = nothing,)))
    noise, distance = noise_and_outlier(optimizer, false, s.prior === nothing || is_normal_prior(s.prior) ? nothing : posterior_of(s.prior), y)
    distance > 0 && @warn string("a target is ", rounded(distance), " robust standard deviations from the median, so the noise is ",
        "Student's t, in which outliers count little: if the target is right, set noise = :heteroscedastic or :gaussian")
    return noise
end

"The likelihood of real numbers with another noise than the Gaussian."
function noisy(likelihood, noise)
    noise === :gaussian && return likelihood
    likelihood in (:gaussian, noise) || throw(InvalidArgumentError("noise $(brief(noise)) is for real numbers"))
    return noise
end

function model_for(m, likelihood, inputs, targets, image)
    s, outputs = m.settings, likelihood === :heteroscedastic ? 2 * targets : targets
    m isa BayesianConv && return network_model(s, likelihood, image, inputs, outputs)
    return Model(Int64[inputs; s.hidden; outputs]; activation = s.activation, likelihood = likelihood, bias = s.bias,
        dtype = s.dtype)
end

has_scale(likelihood) = likelihood in (:gaussian, :heteroscedastic, :student_t)

posterior_of(prior::Posterior) = prior
posterior_of(prior::BayesianNetwork) = prior.posterior
posterior_of(other) =
    throw(InvalidArgumentError("prior is a $(typeof(other)); it must be normal(location, scale), a Dict of them by name, a Posterior or a fitted estimator"))

"Standardises by the data, or as the estimator whose posterior is the prior: parameters mean the same in both."
standardize_as!(model, prior, data...) = standardize!(model, data...)
function standardize_as!(model, prior::BayesianNetwork, data...)
    of = standardization(prior.model)
    plain = all(iszero, of.target_mean) && all(isone, of.target_scale)
    return set_standardization!(model; of.input_mean, of.input_scale, target_mean = plain ? nothing : of.target_mean,
        target_scale = plain ? nothing : of.target_scale)
end

class_count(found::AbstractVector, y) = length(found)
class_count(::Nothing, y) = throw(ShapeError("y has $(size(y, 2)) columns; categorical labels are a vector"))
class_count(::Nothing, data::Dataset) = throw(ShapeError("the data set has $(ntargets(data)) targets; labels are one"))

function posterior_for(model, training, settings)
    family = training.family
    input, hidden = settings.dropout
    settings.rank === nothing || family in RANKED || (family, settings.rank) == (:diagonal, 0) || throw(UnsupportedError(
        "rank is $(settings.rank), but posterior $(repr(family)) has no rank: leave rank out, or give posterior = :low_rank"))
    family === :dropout || settings.dropout == known_rates(estimator_default(:hidden_rate)) || throw(UnsupportedError(
        "dropout is $(settings.dropout), but these are rates of posterior = :dropout, and this is $(repr(family))"))
    family === :dropout && return Posterior(model; family = family, input_rate = input, hidden_rate = hidden)
    family === :diagonal && return Posterior(model; rank = 0)
    rank = settings.rank === nothing ? training.rank : settings.rank
    return Posterior(model; family = family, rank = rank)
end

"Targets as the likelihood expects them."
encoded_targets(m::BayesianNetwork, y) = encoded_targets(m.classes, y)
encoded_targets(classes, y) = y
function encoded_targets(classes::AbstractVector, y::AbstractVector)
    are_shares(y) || return encoded(y, classes)
    classes == [0, 1] || throw(LabelError("y has shares of successes, but the classes are $(brief_list(classes))"))
    return y
end

"Runs `train` with the progress function that the caller has asked for."
shown(train, progress::Function) = train(progress)
shown(train, ::Nothing) = train(nothing)
function shown(train, progress::Bool)
    progress || return train(nothing)
    try
        return train(progress_line())
    finally
        println(stderr)
    end
end
shown(train, progress) =
    applicable(progress, nothing) ? train(progress) :
    throw(InvalidArgumentError("progress is $(brief(progress)); it must be true, false or a function"))

"A progress function that writes one line over and over, at most ten times a second."
function progress_line(io::IO = stderr)
    last = 0.0
    return function (optimizer)
        step, planned, epoch = progress(optimizer)
        time() - last < 0.1 && step < planned && return nothing
        last = time()
        print(io, "\rstep ", step, " of ", planned, ", epoch ", round(Int, epoch), elbo_text(optimizer), "   ")
        return nothing
    end
end

function elbo_text(optimizer)
    try
        return string(", ELBO ", round(running_elbo(optimizer).elbo; digits = 1))
    catch e
        e isa UnsupportedError || rethrow()
        return ""  # a dropout posterior has no KL divergence
    end
end
