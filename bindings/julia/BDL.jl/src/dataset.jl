# Data that need not lie in memory: rows by number.

"What the trampoline finds: the user's function."
mutable struct Reader
    read::Any
end

function on_read(data::Ptr{Cvoid}, rows::Ptr{Int64}, count::Int64, x::bdl_matrix_out, y::bdl_matrix_out)::Int32
    return called_back(Int32(-1)) do
        reader = unsafe_pointer_to_objref(data)::Reader
        found = reader.read(Int[unsafe_load(rows, i) + 1 for i in 1:count])
        found isa Tuple && length(found) == 2 ||
            throw(ShapeError("the function of a data set returned $(summary_of(found)), expected a tuple (x, y)"))
        x.data == C_NULL || answer(found[1], x, Float64, "x of a data set's rows")
        y.data == C_NULL || answer(found[2], y, Float64, "y of a data set's rows")
        Int32(0)
    end
end

"""
    Dataset(X, Y = nothing)
    Dataset(read, n; inputs, targets = 1)
    Dataset(; npy = ("x.npy", "y.npy"))
    Dataset(; safetensors = "data.safetensors", x = "x", y = "y")

Rows in place of X and Y in [`fit`](@ref), [`fit!`](@ref), [`laplace!`](@ref), [`elbo`](@ref), [`start_noise!`](@ref) and [`standardize!`](@ref): of matrices
(memory-mapped ones too), of a function, of NumPy's files, or of two tensors of a safetensors file. Files are mapped and not
read; only minibatches are held in memory. Values are checked when they are read. Files have floating-point numbers, integers or truth values of any
width up to eight bytes: `.npy` in either byte order, safetensors F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 or BOOL, beside other
tensors of any type. Vectors are copied, as they could be resized:
give mapped targets as a matrix of one column.

`read(rows)` returns the rows of these numbers (from 1 to n) as `(x, y)`, matrices or vectors, and the same ones whenever it is
asked. An exception in it stops the fit and comes out unchanged.

# Examples
```julia
fit!(optimizer, Dataset(X, y); epochs = 2)
length(Dataset(rows -> (rows ./ 1e9, rows .% 2), 10^9; inputs = 1))  # 1000000000
```
"""
struct Dataset <: Owner
    handle::bdl_dataset
    Dataset(handle::bdl_dataset) = new(handle)
end

function Dataset(X::AbstractVecOrMat, Y = nothing)
    # The library keeps their addresses, so what could be resized is copied.
    x, y = look_steadily(X), Y === nothing ? NO_MATRIX : look_steadily(Y)
    return Dataset(create(out -> LibBDL.bdl_dataset_from_arrays(x, y, out), bdl_dataset, (x, y)))
end

function Dataset(read, n::Integer; inputs::Integer, targets::Integer = 1)
    reader = Reader(read)
    return Dataset(create(bdl_dataset, Held(reader, read)) do out
        # No destroy function: garbage collection frees what the handle keeps.
        LibBDL.bdl_dataset_from_callback(n, inputs, targets, LibBDL.@bdl_read_fn(on_read), pointer_from_objref(reader),
            C_NULL, out)
    end)
end

function Dataset(; npy = nothing, safetensors = nothing, x = "x", y = "y")
    (npy === nothing) == (safetensors === nothing) &&
        throw(InvalidArgumentError("a data set is made of arrays, a function, npy or safetensors: one of them"))
    safetensors === nothing || return Dataset(create(bdl_dataset) do out
        LibBDL.bdl_dataset_from_safetensors(String(safetensors), String(x), text_or_null(y), out)
    end)
    x_path, y_path = npy isa AbstractString ? (npy, nothing) : npy
    return Dataset(create(out -> LibBDL.bdl_dataset_from_npy(String(x_path), text_or_null(y_path), out), bdl_dataset))
end

text_or_null(text) = text === nothing ? Cstring(C_NULL) : String(text)

nrows(data::Dataset) = Int(LibBDL.bdl_dataset_rows(alive(data)))
ninputs(data::Dataset) = Int(LibBDL.bdl_dataset_inputs(alive(data)))
ntargets(data::Dataset) = Int(LibBDL.bdl_dataset_targets(alive(data)))
Base.length(data::Dataset) = nrows(data)

"""
    set_block!(data, rows, window = 1)

For sources that are quick in order only: an epoch takes blocks of so many rows in random order, and shuffles the rows of
`window` blocks at a time. 0 rows: all rows are shuffled.

# Examples
```julia
set_block!(Dataset(X, y), 100, 4)
```
"""
function set_block!(data::Dataset, rows::Integer, window::Integer = 1)
    check(LibBDL.bdl_dataset_set_block(unused(handle(data)), rows, window))
    return data
end

"""
    read_rows(data, rows)

These rows (from 1) as `(x, y)`, for predictions and metrics part by part; y is `nothing` where there is none.

# Examples
```julia
first_inputs, first_targets = read_rows(Dataset(X, y), 1:10)
```
"""
function read_rows(data::Dataset, rows)
    numbers = numbers_from_0(rows isa Integer ? rows : collect(rows), nrows(data), "read_rows: a row")
    x = Matrix{Float64}(undef, length(numbers), ninputs(data))
    y = ntargets(data) == 0 ? nothing : Matrix{Float64}(undef, length(numbers), ntargets(data))
    uninterrupted(guarded((), (handle(data),)) do
        LibBDL.bdl_dataset_read(handle(data), numbers, length(numbers), look(x), look_or_none(y))
    end)
    return (x, y)
end

"""
    target_range(data)

The smallest and the largest number of each column of y, two vectors, from one pass over it.

# Examples
```julia
smallest, largest = target_range(Dataset(X, y))
```
"""
function target_range(data::Dataset)
    smallest, largest = Vector{Float64}(undef, ntargets(data)), Vector{Float64}(undef, ntargets(data))
    uninterrupted(guarded((), (handle(data),)) do
        LibBDL.bdl_dataset_target_range(handle(data), isempty(smallest) ? NO_MATRIX : look_row(smallest),
            isempty(largest) ? NO_MATRIX : look_row(largest))
    end)
    return smallest, largest
end

function start_noise!(optimizer::Optimizer, data::Dataset)
    uninterrupted(guarded((), (trained(optimizer)..., handle(data))) do
        LibBDL.bdl_optimizer_start_noise_dataset(handle(optimizer), handle(data))
    end)
    return optimizer
end

function standardize!(model::Model, data::Dataset)
    uninterrupted(guarded((), (handle(model), handle(data))) do
        LibBDL.bdl_model_standardize_dataset(handle(model), handle(data))
    end)
    return model
end

function fit!(optimizer::Optimizer, data::Dataset; epochs::Integer = 1, progress = nothing)
    report = progress === nothing ? C_NULL : LibBDL.@bdl_progress_fn(on_fit)
    guarded((), (trained(optimizer)..., handle(data)); progress = () -> progress(optimizer)) do
        LibBDL.bdl_optimizer_fit_dataset(handle(optimizer), handle(data), epochs, report, C_NULL)
    end
    return optimizer
end

function laplace!(optimizer::Optimizer, data::Dataset)
    uninterrupted(guarded((), (trained(optimizer)..., handle(data))) do
        LibBDL.bdl_optimizer_laplace_dataset(handle(optimizer), handle(data))
    end)
    return optimizer
end

function elbo(optimizer::Optimizer, data::Dataset; samples::Integer = 100, seed::Integer = 1)
    log_likelihood, kl = Ref{Float64}(), Ref{Float64}(NaN)
    uninterrupted(guarded(trained(optimizer), (handle(data),)) do
        LibBDL.bdl_optimizer_elbo_dataset(handle(optimizer), handle(data), samples, seed, log_likelihood,
            wanted_kl(optimizer, kl))
    end)
    return elbo_parts(log_likelihood[], kl[])
end
