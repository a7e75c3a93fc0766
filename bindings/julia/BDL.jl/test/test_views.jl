# One data set in every layout: used without a copy, with identical results.
let model = Model((3, 4, 1)), q = Posterior(model; rank = 2), wanted = predict(model, q, X; samples = 5)
    rows = permutedims(X)
    strided = (X, rows', transpose(rows), PermutedDimsArray(rows, (2, 1)), view(hcat(y, X), :, 2:4),
        view(repeat(X; inner = (2, 1)), 1:2:120, :), view(X[end:-1:1, :], 60:-1:1, :), view(rows', 1:60, :),
        view(rows, :, 1:60)', reshape(view(vec(X), 1:180), 60, 3))
    for A in strided
        view = BDL.look(A)
        @test view.root === A
        @test view.matrix.data == pointer(A isa Union{Adjoint,Transpose,PermutedDimsArray} ? parent(A) :
                                          A isa SubArray && !(A isa StridedArray) ? parent(parent(A)) : A)
        @test predict(model, q, A; samples = 5) == wanted
    end
    # Others are converted once.
    for A in (Matrix{Any}(X), view(X, collect(1:60), :), Matrix{Union{Missing,Float64}}(X))
        @test BDL.look(A).root !== A
        @test predict(model, q, A; samples = 5) == wanted
    end
    for T in (Float32, Int32, Int, Rational{Int}, Bool)
        A = T === Bool ? X .> 0 : T.(round.(2 .* X))
        @test predict(model, q, A; samples = 5) == predict(model, q, Float64.(A); samples = 5)
    end
    bytes = UInt8.(round.(abs.(20 .* X)))
    for A in (bytes, permutedims(bytes)', view(bytes, :, 3:-1:1)[:, 3:-1:1])
        @test BDL.look(A).root === A && BDL.look(A).matrix.dtype == BDL.LibBDL.BDL_U8
        @test predict(model, q, A; samples = 5) == predict(model, q, Float64.(bytes); samples = 5)
    end
    @test_throws ShapeError predict(model, q, X[1:0, :])
end

# Targets as a vector, a column, a row turned, with strides; labels as Int32.
let values = [mean(step!(small_optimizer(steps = 0), X, target).posterior) for target in
              (y, reshape(y, :, 1), copy(y')', view(repeat(y; inner = 2), 1:2:120), Matrix{Any}(reshape(y, :, 1)))]
    @test all(==(values[1]), values)
end
let labels = Int32.(X[:, 1] .> 0), model = Model((3, 2); likelihood = :categorical)
    q = Posterior(model; rank = 0)
    @test predict_log_density(model, q, X, labels) == predict_log_density(model, q, X, Float64.(labels))
end

# Draws are columns, written in place; a Float32 posterior gives Float32.
let q = Posterior(4; dtype = Float32)
    @test eltype(mean(q)) == Float32 && size(rand(q, 3)) == (4, 3)
    @test rand(q, 5; seed = 7)[:, 3:5] == rand(q, 3; seed = 7, first = 2)
    Random.seed!(5)
    one = rand(q)
    Random.seed!(5)
    @test rand(q) == one
end
