"""The reference of C: a page for each header, with its comments (Doxygen and Breathe) and, for each function, the lines of
examples/reference that show it and what they print. Written to docs/reference/c/generated when the site is built."""

import hashlib
import re
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

import sessions

log = logging.getLogger(__name__)
headers = sessions.root / "include" / "bdl"
examples = sessions.root / "examples" / "reference"
doxygen = sessions.root / "build" / "docs" / "doxygen" / "xml"
mark = re.compile(r"^ *(/\*)((?: *\[\w+\])+) \*/$")
# The headers in the order in which a reader meets them.
order = ["bdl", "status", "matrix", "model", "posterior", "optimizer", "predict", "metrics", "checkpoint", "dataset", "search"]
order += ["online", "names", "communicator", "mpi", "interrupt", "callback"]


def members_of(header):
    """Returns the documented members of a header as (line, kind, name), in the order of its lines."""
    found = []
    page = xml.parse(doxygen / f"{header}_8h.xml").getroot()
    for member in page.iter("memberdef"):
        found.append((int(member.find("location").get("line")), member.get("kind"), member.find("name").text))
    for inner in page.iter("innerclass"):
        struct = xml.parse(doxygen / f"{inner.get('refid')}.xml").getroot().find("compounddef")
        found.append((int(struct.find("location").get("line")), "struct", inner.text))
    names = {}
    for line, kind, name in sorted(found):
        if name.startswith(("bdl_", "BDL_CHECK")) and (name not in names or kind in ("struct", "enum")):
            names[name] = (line, kind, name)  # typedef struct x {} x: the struct
    return sorted(names.values())


def overview_of(header):
    """Returns the comment at the top of a header, which is Markdown; functions in its text are links."""
    comment = re.search(r"/\*\*\n \* @file .*\n([\s\S]*?) \*/", (headers / f"{header}.h").read_text())[1]
    text = re.sub(r"^ \*[ ]?", "", comment, flags=re.MULTILINE)
    return linked(text)


def linked(text):
    """Makes bdl_x() outside of blocks of code a link to the function."""
    lines = []
    for line in text.split("\n"):
        code = line.startswith("    ")
        lines.append(line if code else re.sub(r"(?<![\w`])(bdl_[a-z0-9_]+)\(\)", r"{c:func}`\1`", line))
    return "\n".join(lines)


class Examples:
    """The programs of examples/reference: which lines show a function, and what these print."""

    def __init__(self):
        self.files = {}  # of each function: the first program that shows it
        for path in sorted(examples.glob("*.c")):
            for line in path.read_text().split("\n"):
                for name in re.findall(r"\[(\w+)\]", line) if mark.match(line) else []:
                    self.files.setdefault(name, path)
        self.outputs = {}  # of each program: what each function's lines print

    def show(self, function):
        path = self.files[function]
        if path not in self.outputs:
            self.outputs[path] = self._run(path)
        code = sessions.text_of(f"{path.relative_to(sessions.root)}#{function}")
        output = "".join(self.outputs[path].get(function, [])).rstrip()
        shown = f"```c\n{code}\n```\n"
        return shown + (f"\n```{{code-block}} text\n:class: bdl-output\n{output}\n```\n" if output else "")

    def _run(self, path):
        """Runs a program whose marks within functions print their names, and splits its output."""
        lines = ['#line 1 "' + path.name + '"']
        for line in path.read_text().split("\n"):
            found = mark.match(line)
            lines.append(f'fputs("\\001{found[2].strip()}\\n", stdout);' if found and line.startswith(" ") else line)
        support = (examples / "example.h").read_text()
        code = "\n".join(lines).replace('#include "example.h"', support)
        result = sessions.run_page(f"reference/c/{path.stem}", [self._block(path, code)])[0]
        if result.failed:
            log.warning("%s failed:\n%s", path, result.output)
        return self._split(result.output)

    def _block(self, path, code):
        if path.stem != "mpi":
            return sessions.Block("c", code)
        if not shutil.which("mpicc"):
            return sessions.Block("sh", "true")
        words = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self ./mpi"
        build = "mpicc -std=c99 -o mpi mpi.c $(pkg-config --cflags --libs bdl_mpi bdl) -lm"
        return sessions.Block("sh", f"cat >mpi.c <<'END_OF_PROGRAM'\n{code}\nEND_OF_PROGRAM\n{build}\n{words}")

    @staticmethod
    def _split(output):
        parts, inside = {}, set()
        for line in output.splitlines(keepends=True):
            if line.startswith("\001"):
                inside ^= set(re.findall(r"\[(\w+)\]", line))
                continue
            for name in inside:
                parts.setdefault(name, []).append(line)
        return parts


directives = {"function": "doxygenfunction", "struct": "doxygenstruct", "enum": "doxygenenum", "typedef": "doxygentypedef",
              "define": "doxygendefine"}  # fmt: skip


def page_of(header, shown):
    digest = hashlib.sha256((headers / f"{header}.h").read_bytes()).hexdigest()[:16]
    text = f"% written from version {digest} of the header\n\n# {header}.h\n\n{overview_of(header)}\n"
    members = members_of(header)
    types = [member for member in members if member[1] not in ("function", "define")]
    if types:
        text += "\n## Types\n"
    for _, kind, name in types:
        options = ":members:\n:undoc-members:\n" if kind == "struct" else ""
        text += f"\n```{{{directives[kind]}}} {name}\n{options}```\n"
    functions = [member for member in members if member[1] in ("function", "define")]
    text += "\n## Functions\n"
    for _, kind, name in functions:
        text += f"\n### {name}\n\n```{{{directives[kind]}}} {name}\n```\n"
        if name in shown.files:
            text += f"\nExample, from `examples/reference/{shown.files[name].name}`:\n\n{shown.show(name)}"
        elif kind == "function":
            log.warning("%s has no example in examples/reference", name)
    return text


def write(app):
    folder = Path(app.srcdir) / "reference" / "c" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    shown = Examples()
    for header in order:
        text, path = page_of(header, shown), folder / f"{header}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    missing = {path.stem for path in headers.glob("*.h")} - set(order)
    if missing:
        log.warning("headers without a page: %s", ", ".join(sorted(missing)))


def link_to(page, app):
    """Returns a link to a page with its title."""
    target = {"refdomain": "std", "reftype": "doc", "reftarget": f"/{page}", "refexplicit": False, "refdoc": app.env.docname}
    return addnodes.pending_xref("", nodes.inline(), **target)


def link_pages(app, tree):
    """Lets docs/a/b.md in the comments of headers lead to that page of the site."""
    if not app.env.docname.startswith("reference/c/"):
        return
    for text in [text for text in tree.findall(nodes.Text) if not isinstance(text.parent, (nodes.literal, nodes.literal_block))]:
        parts = re.split(r"docs/([\w/-]+)\.md", text.astext())
        if len(parts) > 1:
            text.parent.replace(text, [link_to(part, app) if k % 2 else nodes.Text(part) for k, part in enumerate(parts)])


def setup(app):
    app.connect("builder-inited", write)
    app.connect("doctree-read", link_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
