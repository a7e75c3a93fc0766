# Small data sets for examples, which come with the package.

const YACHT = joinpath(dirname(@__DIR__), "data", "yacht.csv")

"""
    load_yacht()

Returns `(X, y)`, the resistance of model yachts in 308 towing runs: `X` is a 308 x 6 matrix, `y` a vector.

The columns of `X` are the longitudinal position of the centre of buoyancy, the prismatic coefficient, the length-displacement
ratio, the beam-draught ratio, the length-beam ratio and the Froude number, which is a speed without a unit. `y` is the residuary
resistance per unit weight of displacement, in thousandths. 22 hulls were towed at 14 speeds each. Source: Gerritsma, Onnink and
Versluis, Yacht Hydrodynamics, UCI Machine Learning Repository, licence CC BY 4.0.

# Examples
```julia
X, y = load_yacht()
size(X), extrema(y)
```
"""
function load_yacht()
    table = mapreduce(line -> parse.(Float64, split(line, ','))', vcat, eachline(YACHT))
    return (X = table[:, 1:6], y = table[:, 7])
end
