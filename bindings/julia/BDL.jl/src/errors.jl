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

"What is thrown where a closed handle is used."
closed(handle) = InvalidArgumentError(string(name_of(handle), " is closed"))

"\"model\" for a `bdl_model`."
name_of(handle) = replace(string(nameof(typeof(handle))), "bdl_" => "")
