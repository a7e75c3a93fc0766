"""Renders formulas by KaTeX when the site is built, so that readers need neither JavaScript nor a network."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

log = logging.getLogger(__name__)
katex = Path("/usr/share/javascript/katex")  # Debian's libjs-katex
processes = {}  # one for each process of Sphinx


def render(node, displayed):
    process = processes.get(os.getpid())
    if process is None:
        script = Path(__file__).parent / "katex.js"
        process = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes[os.getpid()] = process
    process.stdin.write(json.dumps([node.astext().strip(), displayed]) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    if "problem" in answer:
        log.warning("%s in %s", answer["problem"], node.astext(), location=node)
    return answer.get("html", "")


def inline(self, node):
    self.body.append(render(node, False))
    raise nodes.SkipNode


def block(self, node):
    self.body.append(f'<div class="math">{render(node, True)}</div>')
    raise nodes.SkipNode


def copy_style(app, _):
    static = Path(app.outdir) / "_static" / "katex"
    shutil.copytree(katex / "fonts", static / "fonts", dirs_exist_ok=True)
    shutil.copy(katex / "katex.min.css", static)


def setup(app):
    app.add_html_math_renderer("katex", (inline, None), (block, None))
    app.add_css_file("katex/katex.min.css")
    app.connect("build-finished", copy_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
