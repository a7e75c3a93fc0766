"""Sphinx's settings for the site; docs/build.sh builds it."""

import os
import sys
from pathlib import Path

from docutils import nodes

from sphinx.addnodes import pending_xref

here = Path(__file__).parent
sys.path.insert(0, str(here / "_ext"))

project = "libbdl"
copyright = "the libbdl developers"
author = "the libbdl developers"
release = (here.parent / "VERSION").read_text().split()[0]
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "breathe",
    "run",
    "r_reference",
    "julia_reference",
    "formulas",
    "c_reference",
    "methods",
]
exclude_patterns = ["_ext", "requirements.txt", "reference/methods/generated/_table.md"]
nitpicky = False
smartquotes = False  # values such as "auto" are for copying

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline", "substitution"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_substitutions = {"version": release}

breathe_projects = {"bdl": str(here.parent / "build" / "docs" / "doxygen" / "xml")}
breathe_default_project = "bdl"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings describe types, with shapes
napoleon_numpy_docstring = True
napoleon_use_param = False  # else words of types, such as "inputs", become links
toc_object_entries_show_parents = "hide"

html_math_renderer = "katex"
html_theme = "pydata_sphinx_theme"
html_title = "libbdl"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "libbdl"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True


# The address of the repository, if the site is to link to files that are not pages, such as examples.
repository = os.environ.get("BDL_REPOSITORY", "")

# Files of the repository that the site shows as pages.
shown_as = {
    "README.md": "index",
    "CHANGELOG.md": "reference/changelog",
    "CITATION.cff": "get-started/cite",
    "CODE_OF_CONDUCT.md": "developers/conduct",
    "CONTRIBUTING.md": "developers/contributing",
    "LICENSE": "get-started/cite",
    "SECURITY.md": "developers/security",
    "experiments/README.md": "benchmarks/claims",
}


def file_of(link, source):
    """Returns the file of the repository, outside docs/, that a link names, relative to the root; None for other links."""
    path = link["reftarget"].split("#")[0]
    for folder in (source, here.parent, here.parent / "experiments"):
        for name in (path, path + ".md") if path else ():
            file = (folder / name).resolve()
            if file.exists() and here.parent in file.parents and here not in file.parents:
                return str(file.relative_to(here.parent))
    return None


def outside(app, tree):
    """Lets a link to a file of the repository lead to its page, else into the repository, or be text alone without its address."""
    source = Path(app.env.doc2path(app.env.docname)).parent
    for link in [link for link in tree.findall(pending_xref) if link["reftype"] == "myst"]:
        if link["refdomain"] == "doc" and link["reftarget"].split("#")[0] in app.env.found_docs:
            continue
        file = file_of(link, source)
        if file is None:
            continue
        text = nodes.inline("", "", *[child.deepcopy() for child in link[0].children])
        if file in shown_as:
            address = app.builder.get_relative_uri(app.env.docname, shown_as[file])
            link.replace_self(nodes.reference("", "", text, refuri=address, internal=True))
        elif repository:
            link.replace_self(nodes.reference("", "", text, refuri=f"{repository}/blob/main/{file}"))
        else:
            link.replace_self(text)


def skip_fields(app, what, name, member, skip, options):
    """Leaves out the fields of named tuples, which the class describes."""
    return True if (getattr(member, "__doc__", None) or "").startswith("Alias for field number") else None


def setup(app):
    app.connect("doctree-read", outside)
    app.connect("autodoc-skip-member", skip_fields)
