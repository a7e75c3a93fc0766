# Data sets in place of matrices: the same results wherever rows come from.

const SET_X = hcat(sin.(1:100), cos.(3 .* (1:100)))
const SET_Y = SET_X * [1.0, -2.0] .+ 0.1 .* sin.(7 .* (1:100))

function set_learner(data...; standardized = true)
    model = Model((2, 3, 1))
    standardized && standardize!(model, data...)
    return Optimizer(model, Posterior(model; rank = 2), "slang-ggn", 100; minibatch = 16, seed = 4)
end

function save_npy(path, values)
    shape = "{'descr': '<f8', 'fortran_order': True, 'shape': ($(size(values, 1)), $(size(values, 2))), }"
    open(path, "w") do file
        write(file, UInt8[0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0], rpad(shape, 117), "\n", values)
    end
    return path
end

@testset "rows have the bits of matrices" begin
    expected = set_learner(SET_X, SET_Y)
    fit!(expected, SET_X, SET_Y; epochs = 3)
    mktempdir() do folder
        paths = save_npy(joinpath(folder, "x.npy"), SET_X), save_npy(joinpath(folder, "y.npy"), reshape(SET_Y, :, 1))
        for data in (Dataset(SET_X, SET_Y), Dataset(; npy = paths),
            Dataset(rows -> (SET_X[rows, :], SET_Y[rows]), 100; inputs = 2))
            @test (length(data), ninputs(data), ntargets(data)) == (100, 2, 1)
            optimizer = fit!(set_learner(data), data; epochs = 3)
            @test mean(optimizer.posterior) == mean(expected.posterior)
            @test elbo(optimizer, data; samples = 3).elbo ≈ elbo(expected, SET_X, SET_Y; samples = 3).elbo rtol = 1e-12
            x, y = read_rows(data, [8, 1])
            @test x == SET_X[[8, 1], :] && vec(y) == SET_Y[[8, 1]]
            laplace!(optimizer, data)
            close(data)
            @test_throws InvalidArgumentError fit!(optimizer, data)
        end
        @test ntargets(Dataset(; npy = paths[1])) == 0
        @test read_rows(Dataset(; npy = paths[1]), 1:1)[2] === nothing
    end
end

@testset "exceptions come out, and training goes on" begin
    calls = 0
    data = Dataset(100; inputs = 2) do rows
        (calls += 1) == 6 && throw(KeyError(:disk))
        return (SET_X[rows, :], SET_Y[rows])
    end
    optimizer, whole = set_learner(; standardized = false), set_learner(; standardized = false)
    @test_throws KeyError fit!(optimizer, data; epochs = 3)
    @test progress(optimizer).step > 0
    fit!(optimizer, data; epochs = 0)
    fit!(whole, SET_X, SET_Y; epochs = 3)
    @test mean(optimizer.posterior) == mean(whole.posterior)
    @test_throws ShapeError fit!(whole, Dataset(rows -> SET_X[rows, :], 100; inputs = 2))
    @test_throws ShapeError fit!(whole, Dataset(rows -> (SET_X[1:1, :], SET_Y[1:1]), 100; inputs = 2))
end

@testset "what is wrong is said" begin
    bad = copy(SET_X)
    bad[43, 2] = NaN
    error = try
        fit!(set_learner(; standardized = false), Dataset(bad, SET_Y))
    catch e
        e
    end
    @test error isa NotFiniteError && occursin("x is not finite at row 43, column 2", error.message)
    @test_throws FileError Dataset(; npy = ("/nowhere/x.npy", nothing))
    @test_throws InvalidArgumentError Dataset()
end

@testset "a billion rows, and arrays that live as long as needed" begin
    data = set_block!(Dataset(rows -> (hcat(sin.(rows), cos.(rows)), sin.(rows)), 10^9; inputs = 2), 10^6, 2)
    model = set_noise!(Model((2, 1)); precision = 100)
    optimizer = Optimizer(model, Posterior(model; rank = 2), "slang-ggn", 10^9; progress_every = 1)
    fit!(optimizer, data; progress = o -> progress(o).step >= 20)
    @test progress(optimizer).step == 20
    kept = Dataset(copy(SET_X), copy(SET_Y))
    GC.gc()
    @test read_rows(kept, 1:100)[1] == SET_X
end

let data = Dataset(SET_X, SET_Y)
    @test repr(data) == "Dataset(100 rows, 2 inputs, 1 targets)"
    close(data)
    @test repr(data) == "Dataset (closed)"
end
