#!/usr/bin/env python3
"""Compares every generated stub with the public headers: names, arguments and types. The headers are read here by other means
than SWIG's, so that what SWIG misreads shows."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

root = Path(__file__).parent.parent.parent
python = root / "bindings/python"
r = root / "bindings/r/bdl"
julia = root / "bindings/julia/BDL.jl/src/LibBDL.jl"


class Parameter(NamedTuple):
    type: str  # without const, "double*"
    name: str
    is_const: bool


class Function(NamedTuple):
    name: str
    result: str
    parameters: list


def normal(c_type):
    """A type without const and spaces around stars."""
    return re.sub(r"\s*\*", "*", re.sub(r"\bconst\b|\bstruct\b", "", c_type)).strip()


def parameter(text):
    function_pointer = re.fullmatch(r"void \(\*(\w+)\)\(.*\)", text)
    if function_pointer:
        return Parameter("function", function_pointer[1], False)
    c_type, name = re.fullmatch(r"(.*?)(\w+)", text).groups()
    return Parameter(normal(c_type), name, "const" in c_type)


def functions_of_headers():
    for header in sorted((root / "include/bdl").glob("*.h")):
        if header.name == "mpi.h":  # of libbdl_mpi, which Python opens by itself
            continue
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for result, name, arguments in re.findall(r"BDL_API ([^;()]*?)(bdl_\w+)\(((?:[^()]|\([^()]*\))*)\);", text):
            arguments = " ".join(arguments.split())
            parts = re.split(r", (?![^()]*\))", arguments) if arguments not in ("void", "") else []
            yield Function(name, normal(result), [parameter(part) for part in parts])


handles = ("model", "posterior", "optimizer", "predictor", "search", "dataset", "communicator")
outputs = {"double*", "int64_t*", "int32_t*", "char**", "bdl_option_type*", "bdl_predict_method*", "bdl_likelihood*", "bdl_ood_report*"}
outputs |= {f"bdl_{handle}**" for handle in handles}
# Outputs for which bdl.i asks whether they are wanted.
wanted = {"bdl_load": "model posterior optimizer", "bdl_load_bytes": "model posterior optimizer"}
wanted |= {"bdl_optimizer_running_elbo": "kl", "bdl_optimizer_elbo": "kl", "bdl_optimizer_elbo_dataset": "kl"}
# Lists of models, posteriors and their count are one list of pairs.
lists = {"bdl_predictor_create_ensemble": "models method samples seed"}
# A communicator's callbacks are one object.
lists |= {"bdl_communicator_create": "rank size all_gather"}
# Arguments that belong to the one before them.
companions = {"size_count", "row_count", "col_count", "count", "capacity", "size", "user_data", "destroy"}
companions |= {"tensors", "tensor_count"}
# Functions that hosts call themselves.
hidden = {"bdl_set_interrupt", "bdl_interrupted", "bdl_set_callback_message", "bdl_report_error"} | {f"bdl_{handle}_free" for handle in handles}


def host_arguments(function):
    """The arguments that Python and R hand over."""
    keep = wanted.get(function.name, "").split()
    if function.name in lists:
        return lists[function.name].split()
    return [
        p.name
        for p in function.parameters
        if p.name in keep or (p.name not in companions and (p.type not in outputs or p.is_const and p.type == "int64_t*" or p.name == "names"))
    ]


def wrapped_types(path, prefix):
    """Types of the arguments that a wrapper in C hands to the library, by function."""
    text = path.read_text()
    found = {}
    for name, body in re.findall(rf"^SWIG\w* \w+ ?\*? ?\n?{prefix}(bdl_\w+) ?\(.*?\{{\n(.*?)^\}}", text, flags=re.S | re.M):
        declarations = re.findall(r"^  (\w[^=;{}()\n]*?)(\(\*)?\s*\barg(\d+)\b", body, flags=re.M)
        found[name] = {int(number): "function" if pointer else normal(c_type) for c_type, pointer, number in declarations}
    return found


julia_types = {
    "double": "Cdouble",
    "int64_t": "Int64",
    "int32_t": "Int32",
    "uint64_t": "UInt64",
    "bdl_matrix": "bdl_matrix",
    "bdl_matrix_out": "bdl_matrix_out",
    "double*": "Ptr{Cdouble}",
    "int64_t*": "Ptr{Int64}",
    "int32_t*": "Ptr{Int32}",
    "char*": "Cstring",
    "char**": "Ptr{Ptr{UInt8}}",
    "void*": "Ptr{Cvoid}",
    "function": "Ptr{Cvoid}",
    "void": "Cvoid",
}
julia_results = {"char*": "Ptr{UInt8}"}


def julia_type(c_type):
    if c_type in julia_types:
        return julia_types[c_type]
    if re.fullmatch(r"bdl_\w+_fn", c_type):
        return "Ptr{Cvoid}"
    if c_type in ("bdl_matrix*", "bdl_model_callbacks*", "bdl_ood_report*"):
        return "Ptr{%s}" % c_type[:-1]
    handle = re.fullmatch(r"(bdl_(?:model|posterior|optimizer|predictor|search|dataset|communicator))(\**)", c_type)
    if handle:
        return "Ptr{" * len(handle[2]) + handle[1] + "}" * len(handle[2])
    return "Ptr{Cint}" if c_type.endswith("*") else "Cint"  # enumerations


def check_hosts(functions):
    module = ast.parse((python / "bdl/lowlevel.py").read_text())
    python_stubs = {n.name: [a.arg for a in n.args.args] for n in module.body if isinstance(n, ast.FunctionDef)}
    r_text = (r / "R/bdl.R").read_text()
    r_stubs = {name: arguments.split(", ") if arguments else [] for name, arguments in
               re.findall(r"^(bdl_\w+) <- function\((.*)\)$", r_text, flags=re.M)}
    in_c = wrapped_types(python / "native/lowlevel_wrap.c", "_wrap_"), wrapped_types(r / "src/bdl_wrap.c", "R_swig_")
    for function in functions:
        if function.name in hidden:
            assert function.name not in python_stubs and function.name not in r_stubs, f"{function.name} is not hidden"
            continue
        expected = host_arguments(function)
        for language, stubs in (("Python", python_stubs), ("R", r_stubs)):
            assert stubs.get(function.name) == expected, f"{language}: {function.name}({stubs.get(function.name)}), not {expected}"
        types = {number: p.type for number, p in enumerate(function.parameters, 1)}
        for language, wrapped in zip(("Python", "R"), in_c):
            assert wrapped[function.name] == types, f"{language}: {function.name} has {wrapped[function.name]}, not {types}"


def check_julia(functions):
    calls = {
        name: (result, [part.strip() for part in re.findall(r"[^,{}]+(?:\{[^,]*\})?", types) if part.strip()])
        for name, result, types in re.findall(r"ccall\(\(:(bdl_\w+), libbdl\), (\S+), \((.*?),?\)(?:, |\))", julia.read_text())
    }
    for function in functions:
        result = julia_results.get(function.result) or julia_type(function.result)
        expected = result, [julia_type(p.type) for p in function.parameters]
        assert calls.get(function.name) == expected, f"Julia: {function.name} has {calls.get(function.name)}, not {expected}"


def check_enums():
    """The names that keep enums as large as an int32_t are no values of them."""
    for layer in (python / "bdl/lowlevel.py", python / "native/lowlevel_wrap.c", r / "R/constants.R", julia):
        assert "FORCE_INT32" not in layer.read_text(), f"{layer.name} has a name that is for C only"


found = list(functions_of_headers())
assert len(found) > 100, f"only {len(found)} functions found in the headers"
check_hosts(found)
check_julia(found)
check_enums()
print(f"{len(found)} functions of the headers agree with their stubs in Python, R and Julia")
