"""Builds the extension module on libbdl, and brings libbdl along: that of BDL_ROOT (an installed prefix), else the one of the
source tree this folder is in, built by CMake. Outside of a source tree it is the system's, found by pkg-config."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).parent.resolve()
tree = here.parent.parent
in_tree = (tree / "CMakeLists.txt").is_file() and (tree / "src").is_dir()


def version():
    if in_tree:
        return (tree / "VERSION").read_text().split()[0]
    return subprocess.check_output(["pkg-config", "--modversion", "bdl"], text=True).strip()


def built_from_tree(folder):
    """libbdl of the source tree, installed to a folder of the build."""
    configure = ["cmake", "-S", tree, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release", "-DBDL_BUILD_TESTS=OFF", "-DBDL_BUILD_STATIC=OFF"]
    subprocess.check_call(configure)
    subprocess.check_call(["cmake", "--build", folder / "build", "--parallel", str(os.cpu_count() or 1)])
    subprocess.check_call(["cmake", "--install", folder / "build", "--prefix", folder / "prefix"])
    return folder / "prefix"


class BuildWithLibrary(build_ext):
    def build_extension(self, extension):
        prefix = os.environ.get("BDL_ROOT") or (in_tree and built_from_tree(Path(self.build_temp).resolve()))
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
