# Data that need not lie in memory: rows by number.

"The user's function, which the trampoline calls."
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
    Dataset(...; row_weights = false, offsets = 0)

Describes data that need not fit in memory. A data set takes the place of X and Y in [`fit`](@ref), [`fit!`](@ref),
[`laplace!`](@ref), [`elbo`](@ref), [`start_noise!`](@ref) and [`standardize!`](@ref). Its rows come from matrices (also memory-mapped
ones), from a function, from NumPy files, or from two tensors of a safetensors file.

libbdl maps files and holds only minibatches in memory. It checks values when it reads them. Files contain floating-point numbers,
integers or truth values of any width up to eight bytes. Vectors are copied, because they could be resized; give memory-mapped targets
as a matrix with one column.

For estimators, `row_weights = true` says that the last column of Y is the weight of a row, and `offsets` how many last columns of X are
offsets. A [`Model`](@ref) says this itself ([`set_row_weights!`](@ref), [`set_offsets!`](@ref)).

`read(rows)` returns the rows with these numbers (from 1 to n) as `(x, y)`, and the same values each time. An exception in it stops
training and reaches you unchanged.

# Examples
```julia
fit!(optimizer, Dataset(X, y); epochs = 2)
length(Dataset(rows -> (rows ./ 1e9, rows .% 2), 10^9; inputs = 1))  # 1000000000
```
"""
struct Dataset <: Owner
    handle::bdl_dataset
    row_weights::Bool
    offsets::Int
    function Dataset(handle::bdl_dataset, row_weights = false, offsets = 0)
        data = new(handle, row_weights, offsets)
        0 <= offsets < max(1, ninputs(data)) ||
            throw(InvalidArgumentError("offsets is $offsets; it must be a number of columns of X, fewer than all $(ninputs(data))"))
        row_weights && ntargets(data) < 2 &&
            throw(ShapeError("with row_weights, Y has weights in its last column and targets in others; it has $(ntargets(data)) columns"))
        return data
    end
end

function Dataset(X::AbstractVecOrMat, Y = nothing; row_weights::Bool = false, offsets::Integer = 0)
    # The library keeps their addresses, so what could be resized is copied.
    x, y = look_steadily(X), Y === nothing ? NO_MATRIX : look_steadily(Y)
    return Dataset(create(out -> LibBDL.bdl_dataset_from_arrays(x, y, out), bdl_dataset, (x, y)), row_weights, offsets)
end

function Dataset(read, n::Integer; inputs::Integer, targets::Integer = 1, row_weights::Bool = false, offsets::Integer = 0)
    reader = Reader(read)
    return Dataset(create(bdl_dataset, Held(reader, read)) do out
        # No destroy function: garbage collection frees what the handle keeps.
        LibBDL.bdl_dataset_from_callback(n, inputs, targets, LibBDL.@bdl_read_fn(on_read), pointer_from_objref(reader),
            C_NULL, out)
    end, row_weights, offsets)
end

function Dataset(; npy = nothing, safetensors = nothing, x = "x", y = "y", row_weights::Bool = false, offsets::Integer = 0)
    (npy === nothing) == (safetensors === nothing) &&
        throw(InvalidArgumentError("a data set is made of arrays, a function, npy or safetensors: one of them"))
    safetensors === nothing || return Dataset(create(bdl_dataset) do out
        LibBDL.bdl_dataset_from_safetensors(String(safetensors), String(x), text_or_null(y), out)
    end, row_weights, offsets)
    x_path, y_path = npy isa AbstractString ? (npy, nothing) : npy
    return Dataset(create(out -> LibBDL.bdl_dataset_from_npy(String(x_path), text_or_null(y_path), out), bdl_dataset),
        row_weights, offsets)
end

text_or_null(text) = text === nothing ? Cstring(C_NULL) : String(text)

nrows(data::Dataset) = Int(LibBDL.bdl_dataset_rows(alive(data)))
ninputs(data::Dataset) = Int(LibBDL.bdl_dataset_inputs(alive(data)))
ntargets(data::Dataset) = Int(LibBDL.bdl_dataset_targets(alive(data)))
Base.length(data::Dataset) = nrows(data)

describe(io::IO, data::Dataset) =
    print(io, "Dataset($(nrows(data)) rows, $(ninputs(data)) inputs, $(ntargets(data)) targets)")

"""
    set_block!(data, rows, window = 1)

Makes an epoch go through blocks of consecutive rows, for sources that are fast only in order. The blocks come in random order, and
`window` blocks at a time are shuffled together. 0 rows return to shuffling all rows.

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

Returns rows, by their numbers from 1, as `(x, y)`; y is `nothing` if the data set has no targets.

# Examples
```julia
some_inputs, some_targets = read_rows(Dataset(X, y), 1:3)
some_targets
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

Returns the smallest and the largest number in each column of y, two vectors. It reads all rows once.

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
