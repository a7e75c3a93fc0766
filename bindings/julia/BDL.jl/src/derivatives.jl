# Values and derivatives of a model at given parameters: for your own algorithms and checks.

"""
    initialize(model; scheme = :uniform_fan_in, seed = 1)

Returns initial parameters of a network, a vector. Schemes are `:uniform_fan_in`, `:xavier` and `:he`.

# Examples
```julia
theta = initialize(model; scheme = :he, seed = 2)
length(theta)
```
"""
function initialize(model::Model; scheme = :uniform_fan_in, seed::Integer = 1)
    theta = Vector{dtype(model)}(undef, nparameters(model))
    wanted = number(INITIALIZATIONS, scheme)
    return filled(view -> LibBDL.bdl_model_initialize(handle(model), wanted, seed, view), theta, look_row)
end

"""
    evaluate(model, theta, X)

Returns the outputs f(x; theta) for each row of X: n x C.

# Examples
```julia
line = Model((2, 1))
evaluate(line, [1.0, 2.0, 0.5], [1.0 1.0; 0.0 1.0])  # [3.5; 2.5]
```
"""
function evaluate(model::Model, theta, X)
    x = look(X)
    outputs = Matrix{dtype(model)}(undef, x.matrix.rows, noutputs(model))
    guarded((handle(model),)) do
        LibBDL.bdl_model_evaluate(handle(model), look_row(theta), x, look(outputs))
    end
    return outputs
end

"""
    log_likelihoods(model, theta, X, Y)

Returns log p(y | x, theta) of each example in nats, a vector. Normalising constants are included.

# Examples
```julia
sum(log_likelihoods(model, mean(q), X, y))
```
"""
function log_likelihoods(model::Model, theta, X, Y)
    x = look(X)
    values = Vector{Float64}(undef, x.matrix.rows)
    guarded((handle(model),)) do
        LibBDL.bdl_model_log_likelihood(handle(model), look_row(theta), x, look(Y), look(values))
    end
    return values
end

"""
    gradient_rows(model, theta, X, Y)

Returns the gradients of -log p(y | x, theta) with respect to theta, one row for each example: n x D.

# Examples
```julia
G = gradient_rows(model, mean(q), X, y)
size(G)  # (77, 33); their sum is the gradient of -log p(y | X, theta)
```
"""
function gradient_rows(model::Model, theta, X, Y)
    x = look(X)
    rows = Matrix{dtype(model)}(undef, x.matrix.rows, nparameters(model))
    guarded((handle(model),)) do
        LibBDL.bdl_model_gradient_rows(handle(model), look_row(theta), x, look(Y), look(rows))
    end
    return rows
end

"""
    jacobian(model, theta, X)

Returns the derivatives of the outputs with respect to theta: (n C) x D, with the C outputs of an example in adjacent rows.

# Examples
```julia
J = jacobian(model, mean(q), X[1:3, :])
diag(J * cov(q) * J')  # variances of the linearised model's outputs
```
"""
function jacobian(model::Model, theta, X)
    x = look(X)
    found = Matrix{dtype(model)}(undef, x.matrix.rows * noutputs(model), nparameters(model))
    guarded((handle(model),)) do
        LibBDL.bdl_model_jacobian(handle(model), look_row(theta), x, look(found))
    end
    return found
end

"""
    hessian(model, theta, X, Y)

Returns the Hessian of -sum log p(y | x, theta) with respect to theta, D x D. Custom models have no Hessian.

# Examples
```julia
H = hessian(model, mean(q), X, y)
size(H)
```
"""
function hessian(model::Model, theta, X, Y)
    D = nparameters(model)
    found = Matrix{dtype(model)}(undef, D, D)
    guarded((handle(model),)) do
        LibBDL.bdl_model_hessian(handle(model), look_row(theta), look(X), look(Y), look(found))
    end
    return found
end

"""
    hessian_vector_product(model, theta, X, Y, V)

Returns the product of the [`hessian`](@ref) with a vector, or with each column of a matrix V, without the Hessian itself.

Returns initial parameters of a network, a vector. Schemes are `:uniform_fan_in`, `:xavier` and `:he`.

# Examples
```julia
theta = initialize(model; scheme = :he, seed = 2)
length(theta)
```
"""
function hessian_vector_product(model::Model, theta, X, Y, V::AbstractVecOrMat)
    products = similar(V, dtype(model))
    guarded((handle(model),)) do
        LibBDL.bdl_model_hessian_vector_product(handle(model), look_row(theta), look(X), look(Y), as_rows(V),
            as_rows(products))
    end
    return products
end

"Columns of parameters as the rows that the library knows them as."
as_rows(V::AbstractVecOrMat) = swapped(look(V))
as_rows(V) = look(V)
