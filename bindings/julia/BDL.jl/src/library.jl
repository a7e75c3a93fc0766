# Finding and opening the shared library.

"Place of the library in packages that bring it along (packaging/julia)."
const own_library = joinpath(dirname(@__DIR__), "lib", "libbdl.so.0")

"""
Returns the place of libbdl: the preference "libbdl" of the active project, else ENV["BDL_LIBRARY"], else the package's
own copy, else the system's.
"""
function library_path()
    if isdefined(Base, :get_preferences)  # since Julia 1.6
        path = get(Base.get_preferences(Base.PkgId(BDL).uuid), "libbdl", nothing)
        path === nothing || return string(path)
    end
    return get(ENV, "BDL_LIBRARY", isfile(own_library) ? own_library : LibBDL.libbdl)
end

"""
Opens libbdl before the first ccall is compiled, which opens it as well where the loader knows the soname: Julia's own way
of opening a library (RTLD_DEEPBIND) can bind two halves of the C++ unwinder to two libraries, and then every exception
inside libbdl aborts the process. Later calls, which know the soname only, find the library that is open.
"""
function open_library()
    path = library_path()
    try
        Libdl.dlopen(path, Libdl.RTLD_LAZY | Libdl.RTLD_LOCAL)
    catch e
        e isa ErrorException || rethrow()
        error("BDL: cannot open libbdl as \"$path\" (", e.msg, "). Install libbdl, or say where it is: set the ",
            "environment variable BDL_LIBRARY to the path of libbdl.so.0, or the preference \"libbdl\" of this package.")
    end
    return nothing
end

"A library older than the headers would misread what it is given."
function check_version()
    major, minor, patch = LibBDL.header_version.major, LibBDL.header_version.minor, LibBDL.header_version.patch
    LibBDL.bdl_check_version(major, minor, patch) == LibBDL.BDL_OK || error("BDL: ", LibBDL.bdl_last_error())
    return nothing
end

"""
    BDL.version()

Returns the version of the library libbdl.

# Examples
```julia
BDL.version() >= v"0.2"
```
"""
version() = VersionNumber(LibBDL.bdl_version())

"""
    BDL.build_info()

Returns how libbdl was built, and which BLAS this process uses; please add it to bug reports.

# Examples
```julia
println(BDL.build_info())
```
"""
build_info() = LibBDL.bdl_build_info()
