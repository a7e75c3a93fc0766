"""Builds the extension module of bdl on libbdl.

Where libbdl comes from: the installed prefix BDL_ROOT if that is set, else the sources (those of the tree around this folder,
or of folder libbdl in a source distribution), built by CMake, else the system, by pkg-config. BDL_SYSTEM=1 asks for the system's.
The package brings its own copy of the library along unless it is the system's.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).parent.resolve()
trees = [tree for tree in (here / "libbdl", here.parent.parent) if (tree / "src").is_dir() and (tree / "VERSION").is_file()]
tree = trees[0] if trees else None
system = bool(os.environ.get("BDL_SYSTEM"))

needs = """
bdl was not built: libbdl could not be compiled ({error}).
A wheel of bdl (a file that ends in .whl) needs no compiler. To build from source you need
  - a C++20 compiler (GCC 12, Clang 14), CMake 3.20, and Python's headers,
  - BLAS, LAPACKE, libLBFGS, NLopt, Random123, Boost.Math and nlohmann-json.
On Debian 12:
  apt install g++ cmake python3-dev libopenblas-dev liblapacke-dev liblbfgs-dev libnlopt-dev \\
    librandom123-dev libboost-dev nlohmann-json3-dev
If libbdl is installed already, set BDL_ROOT to its prefix.
"""


def version():
    for folder in filter(None, (tree, here / "libbdl")):
        if (folder / "VERSION").is_file():
            return (folder / "VERSION").read_text().split()[0]
    return subprocess.check_output(["pkg-config", "--modversion", "bdl"], text=True).strip()


def built_from_tree(folder):
    """Builds libbdl from the sources and returns the prefix that it was installed to, in a folder of the build."""
    configure = ["cmake", "-S", tree, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release", "-DBDL_BUILD_TESTS=OFF", "-DBDL_BUILD_STATIC=OFF"]
    try:
        subprocess.check_call(configure)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        subprocess.check_call(["cmake", "--build", folder / "build", "--parallel", jobs])
        subprocess.check_call(["cmake", "--install", folder / "build", "--prefix", folder / "prefix"])
    except FileNotFoundError:
        sys.exit(needs.format(error="there is no program cmake"))
    except subprocess.CalledProcessError as error:
        sys.exit(needs.format(error=f"{' '.join(map(str, error.cmd[:2]))} failed, see above"))
    return folder / "prefix"


class BuildWithLibrary(build_ext):
    def build_extension(self, extension):
        prefix = os.environ.get("BDL_ROOT")
        if not prefix and tree and not system:
            prefix = built_from_tree(Path(self.build_temp).resolve())
        if prefix:
            self.bring_along(Path(prefix), extension)
        else:
            self.use_system(extension)
        super().build_extension(extension)

    def bring_along(self, prefix, extension):
        found = sorted(prefix.glob("lib*/**/libbdl.so.0"))
        if not found:
            sys.exit(f"there is no lib/libbdl.so.0 in {prefix}")
        target = Path(self.get_ext_fullpath(extension.name)).resolve().parent
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(found[0].resolve(), target / "libbdl.so.0")
        for mpi in sorted(prefix.glob("lib*/**/libbdl_mpi.so.0")):
            shutil.copy(mpi.resolve(), target / "libbdl_mpi.so.0")
        extension.include_dirs.append(str(prefix / "include"))
        extension.extra_link_args += [str(target / "libbdl.so.0"), "-Wl,-rpath,$ORIGIN"]

    def use_system(self, extension):
        def flags(kind):
            return subprocess.check_output(["pkg-config", kind, "bdl"], text=True).split()

        extension.extra_compile_args += flags("--cflags")
        extension.extra_link_args += flags("--libs")


setup(
    version=version(),
    ext_modules=[
        Extension(
            "bdl._lowlevel",
            sources=["native/lowlevel_wrap.c"],
            depends=[f"native/{name}.h" for name in ("arguments", "callbacks", "calls", "handles", "uses", "views")],
            include_dirs=["native"],
        )
    ],
    cmdclass={"build_ext": BuildWithLibrary},
)
