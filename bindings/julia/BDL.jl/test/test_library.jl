@test BDL.version() >= BDL.LibBDL.header_version
let later = BDL.LibBDL.header_version.minor + 1
    @test BDL.LibBDL.bdl_check_version(0, later, 0) == BDL.LibBDL.BDL_ERROR_UNSUPPORTED
end
@test occursin("BLAS", BDL.build_info())
@test "slang-ggn" in training_methods()
@test BDL.LibBDL.bdl_status_name(2) == "BDL_ERROR_SHAPE"

# Every error has its type, and every exported name its documentation.
@test Set(keys(BDL.ERRORS)) == setdiff(Set(keys(BDL.LibBDL.bdl_status_names)), [0, 12])
for name in names(BDL)
    object = getfield(BDL, name)
    parentmodule(object) === BDL && @test haskey(Docs.meta(BDL), Docs.Binding(BDL, name))
end

# A C++ exception passes destructors on its way: with the wrong unwinder this aborts the process.
mktempdir() do folder
    @test_throws FileError load(joinpath(folder, "missing"))
    write(joinpath(folder, "corrupt"), rand(UInt8, 1000))
    @test_throws FormatError load(joinpath(folder, "corrupt"))
end
# So it does where the loader itself finds the library, whose first ccall must not be compiled before it is open.
let folder = dirname(abspath(Libdl.dlpath(BDL.LibBDL.libbdl))), code = "using BDL; try; Model((0, 1)); catch e; print(typeof(e)); end"
    by_loader = merge(ENV, Dict("LD_LIBRARY_PATH" => "$folder:$(get(ENV, "LD_LIBRARY_PATH", ""))"))
    by_both = merge(by_loader, Dict("BDL_LIBRARY" => joinpath(folder, BDL.LibBDL.libbdl)))
    delete!(by_loader, "BDL_LIBRARY")
    for environment in (by_loader, by_both), compiled in ("yes", "no")
        child = setenv(`$CHILD --compiled-modules=$compiled -e $code`, environment)
        @test read(pipeline(ignorestatus(child); stderr = devnull), String) == "InvalidArgumentError"
    end
end
@test sprint(showerror, ShapeError("text")) == "ShapeError: text"

# An installation without libbdl is told what to do.
let code = "try; using BDL; catch e; print(sprint(showerror, e)); end"
    elsewhere = merge(ENV, Dict("BDL_LIBRARY" => "/nowhere/libbdl.so.0"))
    @test occursin("BDL_LIBRARY", read(setenv(`$CHILD -e $code`, elsewhere), String))
end

# The generated layer takes no array of another type, which it would reinterpret.
let lib = BDL.LibBDL, q = Posterior(3)
    @test_throws MethodError lib.bdl_posterior_entropy(q.handle, Float32[0])
    @test_throws MethodError lib.bdl_posterior_entropy(q.handle, Ref{Float32}(0))
    @test_throws MethodError lib.bdl_posterior_entropy(Model((2, 1)).handle, Ref{Float64}(0))
    @test_throws MethodError lib.bdl_posterior_mean(q.handle, [1.0, 2.0, 3.0])
    @test_throws MethodError lib.bdl_model_create_mlp(2, Int32[3, 1], 2, 2, 1, 1, Ref{Ptr{lib.bdl_model}}())
    @test lib.bdl_posterior_entropy(q.handle, Ref{Float64}(0)) == lib.BDL_OK
    @test lib.bdl_posterior_entropy(q.handle, C_NULL) == lib.BDL_ERROR_INVALID_ARGUMENT
end

# Handles: closed twice, used when closed, freed in any order, without a leak.
let optimizer = small_optimizer()
    close(optimizer.model)
    close(optimizer.posterior)
    @test !isopen(optimizer.model)
    step!(optimizer, X, y)  # it keeps both
    close(optimizer)
    close(optimizer)
    @test_throws InvalidArgumentError step!(optimizer, X, y)
    @test occursin("closed", repr(optimizer))
end

resident() = Sys.islinux() ? parse(Int, split(read("/proc/self/statm", String))[2]) * 4096 : 0
function make_and_drop(times)
    for k in 1:times
        model = Model((3, 200, 1))
        q = Posterior(model; rank = 5)
        optimizer = Optimizer(model, q, 60)
        step!(optimizer, X, y)
        k % 3 == 0 && close(q)
        k % 5 == 0 && close(optimizer)
        k % 20 == 0 && GC.gc()
    end
    GC.gc()
end
# A leak grows in every round, by some 40 MB; variations of the heap do not.
make_and_drop(200)
let rounds = 3, growth = zeros(rounds)
    for k in 1:rounds
        growth[k] = -resident()
        make_and_drop(400)
        growth[k] += resident()
    end
    @test minimum(growth) < 8_000_000
end
