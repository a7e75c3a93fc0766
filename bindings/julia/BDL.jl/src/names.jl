# Symbols for the library's enums, from the generated tables: `:relu` is BDL_RELU.

struct Words
    what::String
    numbers::Dict{Symbol,Cint}
    symbols::Dict{Cint,Symbol}
end

function words_of(what, names, prefix = "BDL_")
    symbols = Dict(number => Symbol(lowercase(name[length(prefix)+1:end])) for (number, name) in names)
    return Words(what, Dict(symbol => number for (number, symbol) in symbols), symbols)
end

const ACTIVATIONS = words_of("activation", LibBDL.bdl_activation_names)
const LIKELIHOODS = words_of("likelihood", LibBDL.bdl_likelihood_names)
const INITIALIZATIONS = words_of("initialization", LibBDL.bdl_initialization_names, "BDL_INIT_")
const FAMILIES = words_of("family", LibBDL.bdl_family_names)
const PREDICT_METHODS = words_of("method", LibBDL.bdl_predict_method_names)
const QUANTITIES = words_of("of", LibBDL.bdl_quantity_names, "BDL_QUANTITY_")
const SCALES = words_of("scale", LibBDL.bdl_scale_names, "BDL_SCALE_")
const SCORES = words_of("score", LibBDL.bdl_score_names, "BDL_SCORE_")
const DRAW_KINDS = words_of("kind of draws", LibBDL.bdl_draw_kind_names, "BDL_DRAW_")

function number(words::Words, word, what = words.what)
    found = word isa Union{Symbol,AbstractString} ? get(words.numbers, Symbol(word), nothing) : nothing
    found === nothing || return found
    known = join((repr(symbol) for symbol in sort!(collect(keys(words.numbers)))), ", ", " or ")
    throw(InvalidArgumentError("$what is $(brief(word)); it must be $known"))
end

"The symbol of a number, `nothing` for 0."
symbol(words::Words, number::Integer) = get(words.symbols, Cint(number), nothing)

dtype_number(::Type{Float32}) = LibBDL.BDL_F32
dtype_number(::Type{Float64}) = LibBDL.BDL_F64
dtype_number(::Type{Int32}) = LibBDL.BDL_I32
dtype_number(::Type{UInt8}) = LibBDL.BDL_U8
dtype_number(other) = throw(InvalidArgumentError("dtype is $(brief(other)); it must be Float64 or Float32"))

"Arithmetic of a model or posterior: no Int32, no UInt8."
function float_number(T)
    T in (Int32, UInt8) && throw(InvalidArgumentError("dtype is $T; it must be Float64 or Float32"))
    return dtype_number(T)
end

dtype_of(number::Integer) = number == LibBDL.BDL_F32 ? Float32 : Float64
