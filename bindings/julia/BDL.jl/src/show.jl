# How estimators are shown.

layers(m::BayesianNetwork) = join([ninputs(m.model); m.settings.hidden; noutputs(m.model)], "-")
layers(m::BayesianConv) = string(in_words(image_shape(m.model)), " to ", noutputs(m.model), " outputs")

function Base.show(io::IO, m::BayesianNetwork)
    print(io, estimator_name(m), "(")
    getfield(m, :optimizer) === nothing ? print(io, "not fitted") :
    print(io, layers(m), ", ", likelihood(m.model), ", ", nobs(m), " examples", isempty(m.others) ? "" : ", $(1 + length(m.others)) members")
    print(io, ")")
end

function Base.show(io::IO, ::MIME"text/plain", m::BayesianNetwork)
    getfield(m, :optimizer) === nothing && return show(io, m)
    model, q, optimizer = m.model, m.posterior, m.optimizer
    println(io, estimator_name(m), ": ", layers(m), activations(m), ", ",
        likelihood(model), ", ", length(q), " parameters of ", dtype(q))
    m.classes === nothing || println(io, "  classes:   ", join(repr.(m.classes), ", "))
    println(io, "  posterior: ", family(q), family(q) === :low_rank ? ", rank $(rank(q))" : "")
    println(io, "  training:  ", method(optimizer), ", ", nobs(m), " examples, ",
        round(progress(optimizer).epoch; digits = 1), " epochs")
    diagnosis = diagnosis_of(optimizer)
    show_elbo(io, optimizer, diagnosis)
    show_noise(io, model)
    show_diagnosis(io, diagnosis)
    is_linear(m) && length(q) <= 30 && show_coefficients(io, m)
end

activations(m::BayesianNetwork) = is_linear(m) ? " identity" : " $(m.settings.activation)"
activations(m::BayesianConv) = ""

# An ELBO says something of a model only where training has converged.
function show_elbo(io, optimizer, diagnosis)
    try
        e = running_elbo(optimizer)
        println(io, "  ELBO:      ", rounded(e.elbo), diagnosis == "" ? " (converged)" : " (see the diagnosis)",
            " = expected log likelihood ", rounded(e.expected_log_likelihood), " - KL ", rounded(e.kl))
    catch e
        e isa Union{UnsupportedError,InvalidArgumentError} || rethrow()  # no KL, or no step with a model yet
    end
end

function show_noise(io, model)
    likelihood(model) === :gaussian || return
    println(io, "  noise:     standard deviation ", join(rounded.(sqrt.(diag(noise_covariance(model)))), ", "))
end

# Nothing for posteriors that have none.
function diagnosis_of(optimizer)
    try
        diagnose(optimizer).message
    catch e
        e isa UnsupportedError || rethrow()
        nothing
    end
end

function show_diagnosis(io, diagnosis)
    print(io, "  diagnosis: ", diagnosis === nothing ? "none for this posterior" :
        isempty(diagnosis) ? "mean and uncertainty have moved" : diagnosis)
end

function show_coefficients(io, m)
    names, values, errors = coefnames(m), coef(m), deviations_or_none(m)
    width = maximum(textwidth, names)
    priors = is_normal_prior(m.settings.prior) ? coefficient_prior(m) : nothing
    print(io, "\n  coefficients (posterior mean", errors === nothing ? "" : ", standard deviation",
        priors === nothing ? "" : ", prior", "):")
    for (k, name) in enumerate(names)
        print(io, "\n    ", rpad(name, width), "  ", lpad(rounded(values[k]), 12))
        errors === nothing || print(io, "  ", lpad(rounded(errors[k]), 12))
        priors === nothing || print(io, "  normal(", rounded(priors.location[k]), ", ", rounded(priors.scale[k]), ")")
    end
end

"Returns the standard deviations, or nothing for a point and for dropout."
deviations_or_none(m) = is_point(m) || family(m.posterior) === :dropout ? nothing : deviations(m)

rounded(x) = string(round(x; sigdigits = 5))
