"""
What every failure of libbdl is raised as: a subtype for each status. `message` says function, argument, what was given
and what was expected.
"""
abstract type BDLError <: Exception end

for (name, meaning) in (
    (:InvalidArgumentError, "An argument is out of range, contradictory, closed or in use by a call in progress."),
    (:ShapeError, "An array has the wrong number of rows or columns, or type."),
    (:NotFiniteError, "Input data contain NaN or infinity; the message says where."),
    (:LabelError, "A target is not valid for the likelihood."),
    (:UnknownOptionError, "No option has that name; the message offers the nearest."),
    (:UnsupportedError, "The model, posterior or optimizer does not offer this operation."),
    (:AllocationError, "libbdl could not allocate memory."),
    (:FileError, "A file could not be opened, read or written."),
    (:FormatError, "A file or a sequence of bytes is not a valid checkpoint."),
    (:DivergedError, "Training met a value that is not finite; the step was not taken."),
    (:CallbackError, "A callback reported failure. Exceptions of Julia functions come out themselves instead."),
    (:InternalError, "A defect in libbdl; please report it."),
    (:PeerError, "Another rank failed in a call that all ranks make together."),
    (:CommunicationError, "Ranks have lost each other."),
)
    @eval begin
        struct $name <: BDLError
            message::String
        end
        @doc $meaning $name
    end
end

Base.showerror(io::IO, e::BDLError) = print(io, nameof(typeof(e)), ": ", e.message)

"A value as one short line of a message: a long array by its type and size."
function brief(value)
    value isa AbstractArray && length(value) > 5 && return summary(value)
    text = sprint(show, value; context = :limit => true)
    return length(text) <= 80 ? text : string(first(text, 77), "...")
end

"The first of some values, for a message."
brief_list(values) =
    string(join((brief(value) for value in Iterators.take(values, 8)), ", "), length(values) > 8 ? ", ... ($(length(values)) in all)" : "")

const FROM_0 = " (counting from 0)"

"""
A message of the library, which counts rows, columns and the like from 0 and says so, with Julia's numbers.
"""
function numbered_from_1(message::AbstractString)
    occursin(FROM_0, message) || return String(message)
    counted = r"\b(?:row|column|example|output|parameter|member|draw)s? [0-9]+(?: and [0-9]+)?"
    next_number(digits) = string(parse(BigInt, digits) + 1)
    return replace(replace(message, counted => found -> replace(found, r"[0-9]+" => next_number)), FROM_0 => "")
end

"Numbers from 1 to `most`, as the library counts them."
numbers_from_0(i::Integer, most, what) = numbers_from_0([i], most, what)
function numbers_from_0(numbers::AbstractVector{<:Integer}, most, what)
    wrong = findfirst(k -> !(1 <= k <= most), numbers)
    wrong === nothing || throw(InvalidArgumentError("$what is $(numbers[wrong]); $(most == 0 ? "there is none" : "it must be 1 to $most")"))
    return Int64[k - 1 for k in numbers]
end
numbers_from_0(i, most, what) = throw(InvalidArgumentError("$what is $(brief(i)); it must be whole numbers"))

"What is thrown where a closed handle is used."
closed(handle) = InvalidArgumentError(string(name_of(handle), " is closed"))

"\"model\" for a `bdl_model`."
name_of(handle) = replace(string(nameof(typeof(handle))), "bdl_" => "")
