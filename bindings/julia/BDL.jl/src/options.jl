# Named options of an optimizer, as the library's own table has them.

struct OptionInfo
    name::String
    type::Cint
    default::String
    range::String
    doc::String
end

"The library's tables, once they have been read."
const OPTIONS = Ref{Union{Vector{OptionInfo},Nothing}}(nothing)
const DEFAULTS = Ref{Union{Dict{Symbol,Float64},Nothing}}(nothing)

function option_table()
    known = OPTIONS[]
    known === nothing || return known
    name, default, range, doc = (Ref{Ptr{UInt8}}() for _ in 1:4)
    type = Ref{Cint}()
    return OPTIONS[] = map(1:LibBDL.bdl_option_count()) do i
        check(LibBDL.bdl_option_describe(i - 1, name, type, default, range, doc))
        OptionInfo(unsafe_string(name[]), type[], unsafe_string(default[]), unsafe_string(range[]), unsafe_string(doc[]))
    end
end

function default_table()
    known = DEFAULTS[]
    known === nothing || return known
    name, value = Ref{Ptr{UInt8}}(), Ref{Float64}()
    return DEFAULTS[] = Dict(map(1:LibBDL.bdl_default_count()) do i
        check(LibBDL.bdl_default_describe(i - 1, name, value, C_NULL))
        Symbol(unsafe_string(name[])) => value[]
    end)
end

"""
    estimator_default(name)

Returns a default of the estimators, which is the same in every language: `:hidden`, `:epochs`, `:samples`, `:input_rate`,
`:hidden_rate`, `:seed`, `:image_epochs`, `:image_samples`, and three numbers for [`novelty`](@ref): `:novelty_rows`,
`:novelty_stream_rows` and `:novelty_numbers`.

# Examples
```julia
estimator_default(:epochs)  # 100
```
"""
function estimator_default(name)
    value = get(default_table(), Symbol(name), nothing)
    value === nothing && throw(InvalidArgumentError("name is $(brief(name)); it must be one of $(join(keys(default_table()), ", "))"))
    return isinteger(value) ? Int(value) : value
end

is_option(name::AbstractString) = any(option -> option.name == name, option_table())

"The type of an option; for an unknown name that of a real one, whose getter and setter know the nearest name."
function option_type(name::AbstractString)
    table = option_table()
    i = findfirst(option -> option.name == name, table)
    return i === nothing ? LibBDL.BDL_OPTION_DOUBLE : table[i].type
end

function set_option!(h::bdl_optimizer, name::AbstractString, value)
    type = option_type(name)
    is_option(name) || (value = 0)  # for the library to refuse, whatever the value is
    check(type == LibBDL.BDL_OPTION_INT ? LibBDL.bdl_optimizer_set_int(h, name, option_int(name, value)) :
          type == LibBDL.BDL_OPTION_CHOICE ? LibBDL.bdl_optimizer_set_choice(h, name, option_word(name, value)) :
          LibBDL.bdl_optimizer_set_double(h, name, option_real(name, value)))
end

"name=value, as the library reads it from text."
function option_text(name::AbstractString, value)
    is_option(name) || return "$name=0"  # for the library to refuse, whatever the value is
    type = option_type(name)
    text = type == LibBDL.BDL_OPTION_INT ? option_int(name, value) :
           type == LibBDL.BDL_OPTION_CHOICE ? join(split(option_word(name, value)), '_') : option_real(name, value)
    return string(name, '=', text)
end

option_real(name, value) = value isa Real ? Float64(value) : wrong_value(name, value, "a real number")
option_word(name, value) =
    value isa Union{Symbol,AbstractString} ? String(value) : wrong_value(name, value, "a word")
option_int(name, value) = value isa Real && isinteger(value) && typemin(Int64) <= value < 2.0^63 ? Int64(value) :
                          wrong_value(name, value, "a whole number")

wrong_value(name, value, expected) =
    throw(InvalidArgumentError("option \"$name\" is $(brief(value)); it must be $expected"))

function get_option(h::bdl_optimizer, name::AbstractString)
    type = option_type(name)
    type == LibBDL.BDL_OPTION_INT && return read_out(out -> LibBDL.bdl_optimizer_get_int(h, name, out), Int64)
    type == LibBDL.BDL_OPTION_CHOICE && return read_text(out -> LibBDL.bdl_optimizer_get_choice(h, name, out))
    return read_out(out -> LibBDL.bdl_optimizer_get_double(h, name, out), Float64)
end

"The result of `options`: rows `(name, value, default, range, doc)`, shown as a table."
struct OptionTable <: AbstractVector{NamedTuple}
    rows::Vector{NamedTuple}
end

Base.size(table::OptionTable) = size(table.rows)
Base.getindex(table::OptionTable, i::Int) = table.rows[i]

function Base.show(io::IO, ::MIME"text/plain", table::OptionTable)
    widths = [maximum([textwidth(string(row[field])) for row in table]) for field in (:name, :value, :range)]
    for row in table
        marks = string(row.value) == row.default ? ' ' : '*'
        println(io, rpad(row.name, widths[1]), " ", marks, rpad(string(row.value), widths[2]), "  ",
            rpad(row.range, widths[3]), "  ", row.doc)
    end
end
