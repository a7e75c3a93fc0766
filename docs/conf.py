"""Sphinx's settings for the site; docs/build.sh builds it."""

import sys
from pathlib import Path

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
]
exclude_patterns = ["_ext", "requirements.txt"]
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


def outside(app, env, node, contnode):
    """Shows a link to a file of the repository that is not part of the site as its text alone."""
    path = node.get("reftarget", "").split("#")[0]
    folders = (here.parent, here.parent / "experiments", (here / node["refdoc"]).parent)
    return contnode if path and any((folder / path).resolve().exists() for folder in folders) else None


def setup(app):
    app.connect("missing-reference", outside)
