"""
    BDLError

The supertype of all errors of libbdl, with a subtype for each kind of error. The field `message` names the function, the argument, the
value and what was expected.

# Examples
```julia
try
    Posterior(3; rank = 5)
catch error
    error isa BDLError && println(error.message)
end
```
"""
abstract type BDLError <: Exception end

# The name of an error, its meaning, and an example that returns or throws one.
for (name, meaning, example) in (
    (:InvalidArgumentError, "An argument is out of range, contradicts another one, is closed, or is in use by a call in progress.",
        "try Posterior(3; rank = 5) catch error; error end"),
    (:ShapeError, "An array has a wrong number of rows or columns, or a wrong type.",
        "try rmse([1, 2], [1, 2, 3]) catch error; error end"),
    (:NotFiniteError, "Data contain NaN or infinity; the message names the place.",
        "try fit(BayesianGLM, [1.0, NaN, 3.0], [1.0, 2.0, 3.0]) catch error; error end"),
    (:LabelError, "A target is not valid for the likelihood.",
        "try fit(BayesianGLM, [1.0, 2.0], [-1, 2]; family = :poisson) catch error; error end"),
    (:UnknownOptionError, "No option has this name; the message contains the most similar name.",
        "try set_text!(Optimizer(Model((1, 1)), Posterior(2), 10), \"sample=4\") catch error; error end"),
    (:UnsupportedError, "The model, posterior or optimizer does not support this operation.",
        "try Optimizer(Model((1, 5, 1)), Posterior(16; family = :full), \"exact-full\", 10) catch error; error end"),
    (:AllocationError, "libbdl could not allocate memory.",
        "AllocationError <: BDLError"),
    (:FileError, "A file cannot be opened, read or written.",
        "try load(\"missing.safetensors\") catch error; error isa FileError end"),
    (:FormatError, "A file, or a sequence of bytes, is not a valid checkpoint.",
        "write(\"text.safetensors\", \"text\");\ntry load(\"text.safetensors\") catch error; error end"),
    (:DivergedError, "Training diverged, and the model is back in its last good state; or a step met a value that is not finite, and was not taken.",
        "DivergedError <: BDLError"),
    (:CallbackError, "A callback reported an error. Exceptions in Julia functions reach you unchanged instead.",
        "CallbackError <: BDLError"),
    (:InternalError, "libbdl has a defect; please report it.",
        "InternalError <: BDLError"),
    (:PeerError, "Another process failed in a call that all processes make together.",
        "PeerError <: BDLError"),
    (:CommunicationError, "The connection between processes is lost.",
        "CommunicationError <: BDLError"),
)
    text = "    $name\n\n$meaning\n\n# Examples\n```julia\n$example\n```\n"
    @eval begin
        struct $name <: BDLError
            message::String
        end
        @doc $text $name
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

"Returns the error for a closed handle."
closed(handle) = InvalidArgumentError(string(name_of(handle), " is closed"))

"\"model\" for a `bdl_model`."
name_of(handle) = replace(string(nameof(typeof(handle))), "bdl_" => "")
