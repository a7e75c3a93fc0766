"""Writes docs/reference/r/generated: a page for each help file of the R package (r_reference.R), whose examples run."""

from pathlib import Path

import generated

here = Path(__file__).parent
man = here.parents[1] / "bindings" / "r" / "bdl" / "man"


def write(folder):
    generated.output_of("Rscript", here / "r_reference.R", man, folder)


def setup(app):
    app.connect("builder-inited", lambda app: generated.refresh(Path(app.srcdir) / "reference" / "r" / "generated", write))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
