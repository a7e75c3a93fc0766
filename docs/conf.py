"""Sphinx's settings for the site; docs/build.sh builds it."""

import sys
from pathlib import Path

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
napoleon_use_ivar = True
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


def outside(app, tree):
    """Shows a link to a file of the repository that is not a page of the site as its text alone."""
    source = Path(app.env.doc2path(app.env.docname)).parent
    for link in [link for link in tree.findall(pending_xref) if link["reftype"] == "myst"]:
        path = link["reftarget"].split("#")[0]
        is_page = path in app.env.found_docs if link["refdomain"] == "doc" else False
        folders = (source, here.parent, here.parent / "experiments")
        files = [(folder / name).resolve() for folder in folders for name in (path, path + ".md") if path]
        if not is_page and any(file.exists() and here not in file.parents for file in files):
            link.replace_self(link[0].deepcopy())


def setup(app):
    app.connect("doctree-read", outside)
