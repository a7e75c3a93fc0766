"""Two directives for pages: `run` shows a block of code together with what it prints and draws, and `languages` shows the same
job in several languages as tabs. All blocks of a page are run when the site is built (sessions.py)."""

import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx_design.shared import create_component

import sessions

log = logging.getLogger(__name__)
titles = {"python": "Python", "r": "R", "julia": "Julia", "c": "C", "cpp": "C++", "sh": "Shell"}


class block_node(nodes.container):
    """A block of code, before it is run."""


class Run(SphinxDirective):
    """Code that is run: `{run} python`. Options: `file` shows a file of the repository (#region: a part of it), `args` are a
    program's arguments, `fails` expects an error, `hide` shows the output alone, `quiet` the code alone, `html` shows the output as HTML, `alt` describes the figure."""

    required_arguments = 1
    has_content = True
    option_spec = {
        "file": directives.unchanged_required,
        "args": directives.unchanged,
        "fails": directives.flag,
        "hide": directives.flag,
        "html": directives.flag,
        "quiet": directives.flag,
        "alt": directives.unchanged_required,
        "height": directives.unchanged,
    }

    def run(self):
        language = self.arguments[0]
        code = "\n".join(self.content)
        if "file" in self.options:
            code = sessions.text_of(self.options["file"])
            self.env.note_dependency(str(sessions.root / self.options["file"].partition("#")[0]))
        node = block_node(classes=["bdl-run"])
        node["block"] = sessions.Block(language, code, "fails" in self.options, self.options.get("args", ""))
        node["options"] = dict(self.options)
        self.set_source_info(node)
        return [node]


class Languages(SphinxDirective):
    """Tabs for the `run` blocks inside, one for each language; a reader's choice holds on all pages."""

    has_content = True

    def run(self):
        inside = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inside)
        tabs, names = create_component("tab-set", classes=["sd-tab-set"]), {}
        for child in inside.children:
            language = child["block"].language if isinstance(child, block_node) else list(names)[-1]
            if language not in names:
                names[language] = create_component("tab-content", classes=["sd-tab-content"])
                label = nodes.rubric(titles[language], titles[language], classes=["sd-tab-label"], sync_id=language, sync_group="language")
                tabs += create_component("tab-item", classes=["sd-tab-item"], selected=False, children=[label, names[language]])
            names[language] += child
        return [tabs]


class RunBlocks(SphinxTransform):
    """Runs the blocks of a page and puts their outputs after them."""

    default_priority = 100

    def apply(self):
        found = list(self.document.findall(block_node))
        if not found:
            return
        results = sessions.run_page(self.env.docname, [node["block"] for node in found])
        for number, (node, result) in enumerate(zip(found, results)):
            block, options = node["block"], node["options"]
            if result.failed != block.fails:
                said = "should have failed" if block.fails else "failed"
                log.warning("a block of %s %s:\n%s\n%s", block.language, said, block.code, result.output, location=node)
            shown = nodes.container(classes=["bdl-run"])
            if "hide" not in options:
                shown += nodes.literal_block(block.code, block.code, language={"sh": "console"}.get(block.language, block.language))
            if result.output and "html" in options and not result.failed:
                shown += nodes.raw("", result.output, format="html")
            elif result.output and "quiet" not in options:
                shown += nodes.literal_block(result.output, result.output, language="text", classes=["bdl-output"])
            for figure in result.figures:
                shown += self.image(figure, number, options, node)
            node.replace_self(shown)

    def image(self, figure, number, options, node):
        if "alt" not in options:
            log.warning("a figure has no description (option alt)", location=node)
        name = f"{self.env.docname.replace('/', '-')}-{number}-{Path(figure).name}"
        folder = Path(self.env.srcdir) / "_figures"
        folder.mkdir(exist_ok=True)
        shutil.copy(figure, folder / name)
        return nodes.image(uri=f"/_figures/{name}", alt=options.get("alt", ""), classes=["bdl-figure"])


def setup(app):
    app.add_directive("run", Run)
    app.add_directive("languages", Languages)
    app.add_transform(RunBlocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
