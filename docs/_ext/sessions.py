"""Runs the code blocks of a page, in the order of the page. Python, R and Julia keep one session per page; C, C++ and shell
blocks are programs of their own. All of a page share one folder, so one language can load what another has saved.

usage: sessions.py PAGE.md ...   runs the blocks of these pages and prints their outputs
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

here = Path(__file__).parent
root = here.parent.parent
cache = Path(os.environ.get("BDL_DOCS_CACHE", root / "build" / "docs" / "cache"))
seconds = 600  # the longest that a block may take
os.environ["BDL_EXAMPLES"] = str(root / "examples" / "data")
os.environ["BDL_EXPERIMENTS"] = str(root / "experiments")
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # `python` in shell blocks has bdl
for name, value in {  # mpirun also works as root and with more processes than cores
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}.items():
    os.environ.setdefault(name, value)

kept = {
    "python": [sys.executable, "-u", str(here / "drivers" / "python.py")],
    "r": ["Rscript", "--no-save", str(here / "drivers" / "r.R")],
    "julia": ["julia", "--color=no", f"--project={root}/bindings/julia/BDL.jl", str(here / "drivers" / "julia.jl")],
}
suffixes = {"python": "py", "r": "R", "julia": "jl", "c": "c", "cpp": "cpp", "sh": "sh"}


@dataclass
class Block:
    language: str
    code: str
    fails: bool = False  # the page shows an error
    arguments: str = ""  # of a C or C++ program


@dataclass
class Result:
    output: str = ""
    failed: bool = False
    figures: list = field(default_factory=list)  # paths of SVG files


class Page:
    """The sessions of one page."""

    def __init__(self, figures):
        self.folder = Path(tempfile.mkdtemp(prefix="bdl-page-"))
        self.figures = Path(figures)
        self.figures.mkdir(parents=True, exist_ok=True)
        self.sessions = {}
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.sessions.values():
            process.stdin.close()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, block):
        self.count += 1
        run = self._continue if block.language in kept else self._program
        return run(block)

    def _write(self, block, name):
        folder = self.folder / ".blocks"
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.{suffixes[block.language]}"
        path.write_text(block.code + "\n")
        return path

    def _continue(self, block):
        process = self.sessions.get(block.language) or self._start(block.language)
        stem = self.figures / f"{self.count}"
        process.stdin.write(f"{self._write(block, self.count)} {stem}\n")
        process.stdin.flush()
        lines = []
        for line in process.stdout:
            said, mark, state = line.partition("\x01")  # the output of a block need not end with a line
            lines.append(said.replace(f"{root}/bindings/julia/", ""))  # where Julia's warnings come from
            if mark:
                break
        else:
            self.sessions.pop(block.language)
            return Result("".join(lines) + "the session has ended", True)
        failed = state.strip() != "ok"
        figures = sorted(str(path) for path in self.figures.glob(f"{self.count}-*.svg"))
        return Result("".join(lines).rstrip(), failed, figures)

    def _start(self, language):
        process = subprocess.Popen(
            kept[language], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.sessions[language] = process
        return process

    def _program(self, block):
        path = self._write(block, self.count)
        if block.language == "sh":
            return self._call(f"set -e; . {path}")
        compiler = "cc -std=c99" if block.language == "c" else "c++ -std=c++17"
        program = path.with_suffix("")
        built = self._call(f"{compiler} -Wall -Wextra -O2 -o {program} {path} $(pkg-config --cflags --libs bdl) -lm -pthread")
        if built.failed or built.output:  # a warning is a failure as well
            return Result(built.output, True)
        return self._call(f"{program} {block.arguments}")

    def _call(self, command):
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds
        )
        return Result(done.stdout.rstrip(), done.returncode != 0)


def key_of(blocks):
    """Returns a hash of everything that the outputs depend on."""
    digest = hashlib.sha256(json.dumps([asdict(block) for block in blocks]).encode())
    examples = [path for path in sorted(root.glob("examples/*")) if path.is_file()]
    for path in [*sorted(here.glob("drivers/*")), Path(__file__), *(examples if any(b.language == "sh" for b in blocks) else [])]:
        digest.update(path.read_bytes())
    library = os.environ.get("BDL_LIBRARY")
    if library:
        digest.update(Path(library).read_bytes())
    return digest.hexdigest()[:24]


def run_page(name, blocks):
    """Returns the results of a page's blocks, from the cache if neither they nor the library have changed."""
    folder = cache / name.replace("/", "-")
    stored = folder / "results.json"
    key = key_of(blocks)
    if stored.exists():
        record = json.loads(stored.read_text())
        if record["key"] == key:
            return [Result(**result) for result in record["results"]]
    shutil.rmtree(folder, ignore_errors=True)
    with Page(folder) as page:
        results = [page.run(block) for block in blocks]
    if all(result.failed == block.fails for block, result in zip(blocks, results)):
        stored.write_text(json.dumps({"key": key, "results": [asdict(result) for result in results]}))
    return results


def text_of(path):
    """Returns a file of the repository or, if path ends in #region, its lines between comments that hold [region]: the first
    and the second, the third and the fourth ... Comments of other regions and EXPECT(), which is for tests, are left out."""
    path, _, region = path.partition("#")
    text = (root / path).read_text()
    if not region:
        return text.rstrip()
    text = re.sub(r"^ *EXPECT\([^;]*;.*\n", "", text, flags=re.MULTILINE)
    pieces, inside = [], False
    for line in text.split("\n"):
        if f"[{region}]" in line:
            inside = not inside
            if inside:
                pieces.append([])
        elif inside and not is_mark(line):
            pieces[-1].append(line)
    if not pieces or inside:
        raise LookupError(f"{path} has no region [{region}]")
    return "\n\n".join(without_margin(lines) for lines in pieces)


def is_mark(line):
    """True for a comment that holds nothing but names of regions in brackets."""
    return re.fullmatch(r"\s*(/\*|//|#)( *\[[\w-]+\])+( \*/)?", line) is not None


def without_margin(lines):
    """Returns lines as a text without the blanks that all of them begin with."""
    lines = "\n".join(lines).strip("\n").rstrip().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def blocks_of(text):
    """Returns the blocks of a page's source; the site itself reads them through Sphinx."""
    for fence in re.finditer(r"^(`{3,})\{run\} *(\w+)\n([\s\S]*?)^\1$", text, re.MULTILINE):
        options = dict(re.findall(r"^:(\w+): *(.*)$", fence[3], re.MULTILINE))
        code = re.sub(r"^:\w+:.*\n", "", fence[3], flags=re.MULTILINE).strip("\n")
        if "file" in options:
            code = text_of(options["file"])
        yield Block(fence[2], code, "fails" in options, options.get("args", ""))


def main():
    failures = 0
    for name in sys.argv[1:]:
        with Page(tempfile.mkdtemp(prefix="bdl-figures-")) as page:
            for block in blocks_of(Path(name).read_text()):
                result = page.run(block)
                print(f"--- {block.language}\n{block.code}\n--- output{' (FAILED)' if result.failed != block.fails else ''}\n{result.output}")
                for figure in result.figures:
                    print(f"figure: {figure}")
                failures += result.failed != block.fails
    sys.exit(f"{failures} blocks failed" if failures else 0)


if __name__ == "__main__":
    main()
