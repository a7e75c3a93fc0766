# Models that are Julia functions.

"The user's functions, which the trampolines call. Every handle that uses the model holds this object."
mutable struct UserModel
    outputs::Any
    gradients::Any
    inputs::Int
    noutputs::Int
    parameters::Int
    likelihood::Symbol
    dtype::DataType
end

"""
    Model(outputs, gradients = nothing; inputs, parameters, noutputs = 1,
          likelihood = :gaussian, dtype = Float64)

Creates a custom model from Julia functions, for example a simulator, an ODE or a network of another package.

- `outputs(theta, X)` returns the outputs for each row of X: n x C, or a vector if C is 1.
- `gradients(theta, X, G)` returns an n x D matrix: row i is the sum over outputs c of `G[i, c]` times the gradient of output c at
  row i of X. Without gradients the model predicts but does not train.

The functions receive copies, which they may change. An exception in a function ends the call and reaches you unchanged.

# Examples
```julia
decay(theta, X) = theta[1] .* exp.(-theta[2] .* X[:, 1])
function slopes(theta, X, G)
    e = exp.(-theta[2] .* X)
    return hcat(G .* e, -G .* X .* theta[1] .* e)
end
custom = Model(decay, slopes; inputs = 1, parameters = 2)
evaluate(custom, [2.0, 1.0], [0.0, 1.0])
```
"""
function Model(outputs, gradients; inputs::Integer, parameters::Integer, noutputs::Integer = 1,
    likelihood = :gaussian, dtype = Float64)
    word = symbol(LIKELIHOODS, number(LIKELIHOODS, likelihood))
    float_number(dtype)
    return Model(UserModel(outputs, gradients, inputs, noutputs, parameters, word, dtype))
end
Model(outputs::Function; keywords...) = Model(outputs, nothing; keywords...)

function on_outputs(data::Ptr{Cvoid}, parameters::bdl_matrix, inputs::bdl_matrix, outputs::bdl_matrix_out)::Int32
    return called_back(Int32(-1)) do
        user = unsafe_pointer_to_objref(data)::UserModel
        answer(user.outputs(copied_row(user, parameters), copied(user, inputs)), outputs, user.dtype, "outputs")
    end
end

function on_gradients(data::Ptr{Cvoid}, parameters::bdl_matrix, inputs::bdl_matrix, seeds::bdl_matrix,
    rows::bdl_matrix_out)::Int32
    return called_back(Int32(-1)) do
        user = unsafe_pointer_to_objref(data)::UserModel
        found = user.gradients(copied_row(user, parameters), copied(user, inputs), copied(user, seeds))
        answer(found, rows, user.dtype, "gradients")
    end
end

copied(user::UserModel, matrix::bdl_matrix) = user.dtype === Float32 ? copied(Float32, matrix) : copied(Float64, matrix)
copied_row(user::UserModel, matrix::bdl_matrix) = vec(copied(user, matrix))

offset_of(m, i, j) = (i - 1) * m.row_stride + (j - 1) * m.col_stride + 1

"A copy that the user's function may keep and change."
function copied(::Type{T}, m::bdl_matrix) where {T}
    address = Ptr{T}(m.data)
    return T[unsafe_load(address, offset_of(m, i, j)) for i in 1:m.rows, j in 1:m.cols]
end

"Writes what a user's function has returned where the library wants it."
function answer(found, m::bdl_matrix_out, ::Type{T}, name) where {T}
    found isa AbstractVecOrMat{<:Real} ||
        throw(ShapeError("$name returned $(summary_of(found)), expected a matrix of real numbers"))
    (size(found, 1), size(found, 2)) == (m.rows, m.cols) ||
        throw(ShapeError("$name returned $(size(found, 1)) x $(size(found, 2)) values, expected $(m.rows) x $(m.cols)"))
    address = Ptr{T}(m.data)
    for j in 1:m.cols, i in 1:m.rows
        unsafe_store!(address, convert(T, found[i, j]), offset_of(m, i, j))
    end
    return Int32(0)
end

function Model(user::UserModel)
    gradients = user.gradients === nothing ? C_NULL : LibBDL.@bdl_gradients_fn(on_gradients)
    # No destroy function: garbage collection frees what no handle keeps.
    callbacks = LibBDL.bdl_model_callbacks(sizeof(LibBDL.bdl_model_callbacks), LibBDL.@bdl_outputs_fn(on_outputs),
        gradients, pointer_from_objref(user), C_NULL)
    return Model(create(bdl_model, Held(user, user.outputs, user.gradients)) do out
        LibBDL.bdl_model_create_user(dtype_number(user.dtype), user.inputs, user.noutputs, user.parameters,
            number(LIKELIHOODS, user.likelihood), Ref(callbacks), out)
    end)
end
