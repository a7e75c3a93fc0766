# Runs by itself: JULIA_DEPOT_PATH=scratch BDL_LIBRARY=path/to/libbdl.so.0 julia --project=BDL.jl BDL.jl/test/runtests.jl
using BDL, Libdl, LinearAlgebra, Logging, Random, Serialization, Statistics, Test

isdefined(Base.Experimental, Symbol("@optlevel")) && @eval Base.Experimental.@optlevel 0  # compiles faster

const DATA = normpath(@__DIR__, "..", "..", "..", "..", "examples", "data")

const PROJECT = dirname(@__DIR__)
const CHILD = `$(Base.julia_cmd()) --startup-file=no --project=$PROJECT`

include("data.jl")

disable_logging(Logging.Warn)  # most fits here are short, and say so

@testset "BDL" begin
    for file in ("library", "views", "bad_calls", "messages", "callbacks", "examples", "predictors", "posterior", "priors", "training", "datasets", "communicators", "metrics", "checkpoints",
        "estimators", "likelihoods", "weights", "coefficients", "questions", "estimator_datasets", "novelty", "tuning", "images", "tables",
        "interrupts")
        @testset "$file" begin
            include("test_$file.jl")
        end
    end
end
