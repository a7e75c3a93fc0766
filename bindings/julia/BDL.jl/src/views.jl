# Arrays as the library's matrix views.

const Element = Union{Float32,Float64,Int32,UInt8}

"A `bdl_matrix`, or where it is written to a `bdl_matrix_out`, and the array it looks at, which lives as long as the view is an argument of a call."
struct View{A} <: MatrixView
    root::A
    matrix::bdl_matrix
end

Base.cconvert(::Type{<:Union{bdl_matrix,bdl_matrix_out}}, view::View) = view
Base.unsafe_convert(::Type{bdl_matrix}, view::View) = view.matrix
function Base.unsafe_convert(::Type{bdl_matrix_out}, view::View)
    m = view.matrix
    return bdl_matrix_out(m.data, m.dtype, 0, m.rows, m.cols, m.row_stride, m.col_stride)
end

const NO_MATRIX = View(nothing, bdl_matrix(C_NULL, LibBDL.BDL_F64, 0, 0, 0, 0, 0))

"""
Address of the first element and strides of an array whose elements lie in memory with constant strides; `nothing` for
others (lazy arrays, arrays of another device).
"""
layout(::AbstractArray) = nothing
layout(A::StridedArray{<:Element}) = placed(A)
layout(A::Union{Adjoint{<:Element},Transpose{<:Element}}) = turned(layout(parent(A)))

function layout(A::PermutedDimsArray{T,N,perm}) where {T<:Element,N,perm}
    inner = layout(parent(A))
    return inner === nothing ? nothing : (inner[1], map(i -> inner[2][i], perm))
end

# Views of the above; those of dense arrays are StridedArrays already.
function layout(A::SubArray{T,N,P,<:Tuple{Vararg{Union{Real,AbstractRange}}}}) where {T<:Element,N,P}
    A isa StridedArray && return placed(A)
    inner = layout(parent(A))
    (inner === nothing || length(inner[2]) != length(parentindices(A))) && return nothing
    address, strides = inner
    indices = parentindices(A)
    offset = sum(map((i, s, axis) -> (first(i) - first(axis)) * s, indices, strides, axes(parent(A))))
    kept = [step_of(i) * s for (i, s) in zip(indices, strides) if i isa AbstractRange]
    return (address + (isempty(A) ? 0 : offset * sizeof(T)), NTuple{N,Int}(kept))
end

step_of(range::AbstractRange) = Int(step(range))

function placed(A::AbstractArray{T}) where {T}
    address = pointer(A)
    return address isa Ptr{T} ? (address, strides(A)) : nothing
end

turned(::Nothing) = nothing
turned((address, strides)::Tuple{Ptr,NTuple{2,Int}}) = (address, (strides[2], strides[1]))
turned((address, strides)::Tuple{Ptr,NTuple{1,Int}}) = (address, (0, strides[1]))  # a row

"The array as a matrix view, one example per row; a vector is one column. Copies only what is not strided."
look(A::AbstractMatrix) = look(A, layout(A))
look(a::AbstractVector) = look(a, layout(a))
look(other) = throw(ShapeError("expected a matrix or a vector of numbers, got $(summary_of(other))"))

look(A::AbstractVecOrMat, ::Nothing) = look(converted(A))
function look(A::AbstractVecOrMat{T}, (address, strides)::Tuple) where {T}
    columns = A isa AbstractVector ? strides[1] * length(A) : strides[2]
    return View(A, bdl_matrix(address, dtype_number(T), 0, size(A, 1), size(A, 2), strides[1], columns))
end

"""
For calls in which the user's functions run: these might resize a vector, whose memory would be gone. (A matrix cannot
be resized.)
"""
look_steadily(A) = look(resizable(A) ? copy(A) : A)

resizable(::Any) = false
resizable(A::AbstractArray) = A isa Vector || (parent(A) !== A && resizable(parent(A)))

"A vector of parameters, or one number, as one row."
look_row(x::Real) = look_row(Float64[x])
look_row(A::AbstractMatrix) = look(A)
look_row(a::AbstractVector) = swapped(look(a))
look_row(other) = look(other)

"Returns a view, or no matrix for nothing."
look_or_none(x) = x === nothing ? NO_MATRIX : look(x)
look_row_or_none(x) = x === nothing ? NO_MATRIX : look_row(x)

"The transpose of a view: columns of draws become the rows that the library fills."
function swapped(view::View)
    m = view.matrix
    return View(view.root, bdl_matrix(m.data, m.dtype, 0, m.cols, m.rows, m.col_stride, m.row_stride))
end

"One copy as Float64 of what is not strided; `missing` becomes NaN, the library's missing target."
function converted(A::AbstractVecOrMat)
    try
        return float64.(collect(A))
    catch e
        e isa InterruptException && rethrow()
        reason = e isa BDLError ? e.message : first(sprint(showerror, e), 200)
        throw(ShapeError("expected numbers, got $(summary_of(A)): $reason"))
    end
end

float64(::Missing) = NaN
float64(x::Real) = Float64(x)
float64(x) = throw(ShapeError("$(brief(x)) is not a real number"))

summary_of(x) = x isa AbstractArray ? summary(x) : string(typeof(x))
