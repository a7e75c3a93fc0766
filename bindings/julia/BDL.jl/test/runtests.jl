# Runs by itself: JULIA_DEPOT_PATH=scratch BDL_LIBRARY=path/to/libbdl.so.0 julia --project=BDL.jl BDL.jl/test/runtests.jl
using BDL, LinearAlgebra, Random, Serialization, Statistics, Test

const DATA = joinpath(@__DIR__, "..", "..", "..", "..", "examples", "data")

include("data.jl")

@testset "BDL" begin
    for file in ("library", "views", "bad_calls", "callbacks", "posterior", "training", "checkpoints", "estimators",
        "interrupts")
        @testset "$file" begin
            include("test_$file.jl")
        end
    end
end
