#!/usr/bin/python3
"""clang-tidy after `cmake --preset clang`. Arguments: the sources to check, default the library and its benchmarks.

The sources of a folder are checked together, as one that includes them: their headers, most of the work, are read
once. Where they cannot be compiled so (one name for different things), each is checked alone. A folder that was clean is
checked again only after a change of it, its headers or the configuration: ~/.cache/bdl-tidy holds an empty file for each.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLEAN = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bdl-tidy"

# The analyzer follows nulls, leaks and errors where memory and callers' data are handled; it is slow, and has nothing
# to say about kernels. It gives up on a function after so many states, and takes sources that are included for headers.
ANALYZED = {"base", "c_api", "io", "search"}
ANALYZER = ["-Xclang", "-analyzer-opt-analyze-headers", "-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000"]


def flags_of(command):
    """Without the source, the output and precompiled headers."""
    command = re.sub(r" -Xclang -include(-pch)? -Xclang \S*cmake_pch\S*", "", command)
    return tuple(re.sub(r" (-o|-c|-MF|-MT) \S+| -MD| -Winvalid-pch", "", command).split()[1:])


def printed(command):
    """Returns what a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def instantiated(source):
    return re.findall(r"^ *template class (\w+)<(?:float|T)>;", source.read_text(), re.MULTILINE)


def groups(sources, commands):
    """Sources by folder and flags, those that instantiate a class before those that instantiate more members of it; those that
    instantiate it again, each with its own members, apart."""
    found = {}
    seen = {}
    for source in sorted(sources, key=lambda source: not instantiated(source)):
        again = max((seen.get(name, 0) for name in instantiated(source)), default=0)
        for name in instantiated(source):
            seen[name] = seen.get(name, 0) + 1
        found.setdefault((source.parent, flags_of(commands[source]), again), []).append(source)
    return found


class Unit:
    """Sources that are checked together."""

    def __init__(self, folder, flags, sources):
        self.folder, self.flags, self.sources = folder, flags, sources
        self.size = sum(source.stat().st_size for source in sources)

    def check(self):
        status, output = self.run()
        if status == 0 or len(self.sources) == 1 or "[clang-diagnostic-error]" not in output:
            return status, output
        alone = [Unit(self.folder, self.flags, [source]).run() for source in self.sources]
        return max(status for status, _ in alone), "".join(output for _, output in alone)

    def digest(self, unit, checks):
        """Returns a digest of all that the result depends on, wherever the clone lies."""
        read = printed(["clang++", "-MM", *self.flags, unit]).replace("\\\n", " ").split()
        files = [Path(name) for name in read[1:] if name != str(unit)]
        parts = [printed(["clang-tidy", "--version"]), checks, *self.flags, *ANALYZER]
        for file in [*files, ROOT / ".clang-tidy", Path(__file__)]:
            parts += [str(file), file.read_text()]
        return hashlib.sha256("\0".join(parts).replace(str(ROOT), "").encode()).hexdigest()

    def run(self):
        checks = "-bugprone-suspicious-include" + ("" if self.folder.name in ANALYZED else ",-clang-analyzer-*")
        with tempfile.TemporaryDirectory() as work:
            unit = Path(work) / f"{self.folder.name}.cpp"
            unit.write_text("".join(f'#include "{source}"\n' for source in self.sources))
            clean = CLEAN / self.digest(unit, checks)
            if clean.exists():
                return 0, ""
            run = subprocess.run(
                ["clang-tidy", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", f"--checks={checks}",
                 unit, "--", *self.flags, "-Wno-shadow", *ANALYZER],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode == 0:
            CLEAN.mkdir(parents=True, exist_ok=True)
            clean.touch()
        return run.returncode, re.sub(r"^\d+ warnings? .*generated\.\n", "", run.stdout, flags=re.MULTILINE)


def compile_commands():
    """Of each source: its own, or that of the unity build's file which includes it."""
    commands = {}
    for entry in json.loads((ROOT / "build/clang/compile_commands.json").read_text()):
        file = Path(entry["file"])
        together = re.findall(r'^#include "(.*)"', file.read_text(), re.MULTILINE) if file.parent.name == "Unity" else []
        for source in together or [file]:
            commands[Path(source)] = entry["command"]
    # That of its counterpart for the half of BDL_BLAS which this build leaves out.
    commands.setdefault(ROOT / "src/parallel/blas_private.cpp", commands[ROOT / "src/parallel/blas_system.cpp"])
    return commands


def main(arguments):
    commands = compile_commands()
    chosen = [Path(name).resolve() for name in arguments] or sorted(
        path for top in ("src", "bench") for path in (ROOT / top).rglob("*.cpp"))
    units = [Unit(folder, flags, sources) for (folder, flags, _), sources in groups(chosen, commands).items()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(Unit.check, sorted(units, key=lambda unit: unit.size, reverse=True)))
    for _, output in results:
        print(output, end="")
    return max(status for status, _ in results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
