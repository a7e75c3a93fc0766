# Normal priors by the names of coefficients, or of layers and inputs of networks.

"A normal prior; [`normal`](@ref) makes one."
struct NormalPrior
    location::Union{Float64,Vector{Float64}}
    scale::Union{Float64,Vector{Float64}}
end

numbers_of(x::Real) = Float64(x)
numbers_of(x) = collect(Float64, x)

"""
    normal(location = 0, scale = 1)

Returns the normal prior N(location, scale²), for the keyword `prior` of estimators. Each is one number, or one for each input. A scale,
which is a standard deviation, of `Inf` is a flat prior, and `NaN` leaves the prior of the options, which training may learn. Instead you
may pass a `Normal` of Distributions.jl.

# Examples
```julia
glm = fit(BayesianGLM, X, y; prior = normal(0, 2.5), progress = false)  # of each slope
glm = fit(BayesianGLM, X, y; prior = Dict("(Intercept)" => normal(0, 10), "x1" => normal(0, 2.5)), progress = false)
```
"""
function normal(location = 0, scale = 1)
    m, s = numbers_of(location), numbers_of(scale)
    all(isfinite, m) || throw(InvalidArgumentError("location is $(brief(location)); it must be finite"))
    any(<=(0), s) && throw(InvalidArgumentError(
        "scale is $(brief(scale)); it must be positive: it is a standard deviation, Inf for a flat prior"))
    return NormalPrior(m, s)
end

Base.show(io::IO, p::NormalPrior) = print(io, "normal(", rounded_all(p.location), ", ", rounded_all(p.scale), ")")
rounded_all(x::Real) = rounded(x)
rounded_all(x) = string("[", join(rounded.(x), ", "), "]")

"Returns it as normal(location, scale), or nothing. Distributions.jl has μ and σ."
as_normal(p::NormalPrior) = p
as_normal(p) = hasproperty(p, :μ) && hasproperty(p, :σ) ? normal(p.μ, p.σ) : nothing

"Whether it is a normal prior, or several by name."
is_normal_prior(prior) = prior isa Union{AbstractDict,NamedTuple} || as_normal(prior) !== nothing

"The priors of a prior: pairs of a name, or `nothing` for all, and a normal one."
function normals_of(prior)
    prior isa Union{AbstractDict,NamedTuple} || return [nothing => as_normal(prior)]
    return map(collect(pairs(prior))) do (name, each)
        found = as_normal(each)
        found === nothing && throw(InvalidArgumentError("the prior of $name is $(brief(each)); it must be normal(location, scale)"))
        string(name) => found
    end
end

"""
Gives the model's coefficients, or a network's parameters, normal priors. `heads` begin the names of the coefficients of several
outputs.
"""
function give_normals!(optimizer, prior, heads)
    model = optimizer.model
    count = Int(LibBDL.bdl_model_coefficient_count(handle(model), -1))
    places, whole = count > 0 ? coefficient_places(model, count, heads) : parameter_places(model)
    location, scale = zeros(max(count, nparameters(model))), fill(NaN, max(count, nparameters(model)))
    for (name, p) in normals_of(prior)
        place = name === nothing ? whole : named_place(places, name)
        fill_places!(location, place, p.location, name)
        fill_places!(scale, place, p.scale, name)
    end
    set = count > 0 ? LibBDL.bdl_optimizer_set_prior_coefficients : LibBDL.bdl_optimizer_set_prior_normal
    check(set(unused(handle(optimizer)), look_row(location), look_row(scale)))
    return optimizer
end

fill_places!(out, place, x::Real, name) = (out[place] .= x)
function fill_places!(out, place, x::Vector, name)
    # a matrix of places has a row for each input
    name === nothing && place isa Matrix && length(x) == size(place, 1) ||
        throw(ShapeError(string("the prior", name === nothing ? "" : " of $name", " has $(length(x)) numbers; it must have 1",
            place isa Matrix ? " or $(size(place, 1))" : "")))
    out[place] .= x
end

function named_place(places, name)
    haskey(places, name) && return places[name]
    names = collect(keys(places))
    near = sort(names; by = other -> edit_distance(lowercase(name), lowercase(other)))[1]
    edit_distance(lowercase(name), lowercase(near)) <= max(1, length(name) ÷ 3) && throw(InvalidArgumentError(
        "the prior has the name \"$name\", which is unknown: did you mean \"$near\"?"))
    shown = join(repr.(sort(names)[1:min(end, 10)]), ", ")
    throw(InvalidArgumentError("the prior has the name \"$name\"; it must be one of $shown$(length(names) > 10 ? ", ..." : "")"))
end

"The number of letters to insert, delete or replace."
function edit_distance(a, b)
    row = collect(0:length(b))
    for (i, x) in enumerate(a)
        before, row[1] = row[1], i
        for (j, y) in enumerate(b)
            before, row[j+1] = row[j+1], min(row[j+1] + 1, row[j] + 1, before + (x != y))
        end
    end
    return row[end]
end

"Where coefficients are: for each output the intercept, then the slopes. Log noise precisions have priors of the options."
function coefficient_places(model, count, heads)
    terms, inputs = count ÷ noutputs(model), last(blocks(model)[1].size)
    names = [terms > inputs ? ["(Intercept)"] : String[]; ["x$j" for j in 1:inputs]]
    means = nmeans(model)
    places = Dict{String,Any}(name => [(c - 1) * terms + k for c in 1:means] for (k, name) in enumerate(names))
    means > 1 && for c in 1:means, (k, name) in enumerate(names)
        places[heads[c]*name] = [(c - 1) * terms + k]
    end
    return places, [(c - 1) * terms + terms - inputs + j for j in 1:inputs, c in 1:means]
end

"Where the parameters of layers and of their parts are, and the weights that read an input."
function parameter_places(model)
    places = Dict{String,Any}()
    for block in blocks(model)
        layer = first(split(block.name, "."))
        places[layer] = [get(places, layer, Int[]); collect(block.range)]
        places[block.name] = collect(block.range)
    end
    first_block = blocks(model)[1]
    by_row = permutedims(reshape(collect(first_block.range), reverse(first_block.size)...))
    size(by_row, 2) == ninputs(model) && for j in axes(by_row, 2)
        places["x$j"] = by_row[:, j]
    end
    return places, reduce(vcat, [collect(b.range) for b in blocks(model) if !occursin("bias", b.name)])
end

"""
    coefficient_prior(m)

Returns the normal priors of the coefficients of a generalised linear model, (location, scale), in the units of the data and in the order
of [`coefnames`](@ref). The prior of an intercept that you have not given is that at the means of the inputs.

# Examples
```julia
linear = fit(BayesianGLM, X, y; prior = normal(0, 2.5), progress = false)
coefficient_prior(linear).scale
```
"""
coefficient_prior(m::BayesianNetwork) = coefficient_prior(fitted(m))
function coefficient_prior(optimizer::Optimizer)
    count = LibBDL.bdl_model_coefficient_count(handle(optimizer.model), -1)
    location, scale = zeros(count), zeros(count)
    check(LibBDL.bdl_optimizer_get_prior_coefficients(handle(optimizer), look_row(location), look_row(scale)))
    return (location = location, scale = scale)
end

function set_prior!(optimizer::Optimizer, prior::NormalPrior)
    check(LibBDL.bdl_optimizer_set_prior_normal(unused(handle(optimizer)), look_row(prior.location), look_row(prior.scale)))
    return optimizer
end
