# Keywords of estimators that are none: refused when the estimator is made, by their name and not their value.

"Refuses a keyword that no option has."
function check_is_option(m::BayesianNetwork, name)
    is_option(name) && return nothing
    name == "hidden" && m isa BayesianGLM &&
        throw(UnknownOptionError("a generalised linear model has no hidden units: use BayesianMLP"))
    nearest = nearest_word(name, [collect(keywords(m)); [option.name for option in option_table()]])
    throw(UnknownOptionError(string(estimator_name(m), " has no keyword or option \"", name, "\"",
        nearest === nothing ? "" : ", did you mean \"$nearest\"?")))
end

"Keywords that are no options, as the constructor has them."
keywords(m::BayesianNetwork) = [String(name) for name in keys(m.settings) if !(name in (:bias, :options))]
function keywords(m::BayesianGLM)
    networks = (:bias, :options, :hidden, :activation, :likelihood, :noise, :dropout, :members)
    return ["family"; "intercept"; [String(name) for name in keys(m.settings) if !(name in networks)]]
end

"The word that a misspelt one was meant to be; `nothing` where none is near."
function nearest_word(word, words)
    distances = [changes(word, other) for other in words]
    distance, at = findmin(distances)
    return distance <= max(1, length(word) ÷ 3) ? words[at] : nothing
end

"Letters to change, leave out or put in between two words (Levenshtein 1966)."
function changes(word, other)
    letters = collect(other)
    row = collect(0:length(letters))
    for (i, letter) in enumerate(word)
        diagonal, row[1] = row[1], i
        for j in eachindex(letters)
            diagonal, row[j+1] = row[j+1], min(row[j+1] + 1, row[j] + 1, diagonal + (letter != letters[j]))
        end
    end
    return last(row)
end
