"""Draws the badges of README from what is true in this tree; with --check, fails where a stored badge differs.

usage: badges.py [--check]
"""

import re
import sys
from pathlib import Path

here = Path(__file__).parent
root = here.parents[1]


def facts():
    """Yields the name, the label and the value of each badge."""
    yield "version", "version", (root / "VERSION").read_text().split()[0]
    yield "licence", "licence", (root / "LICENSE").read_text().split()[0]
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (root / "bindings/python/pyproject.toml").read_text())[1]
    yield "python", "Python", f"{oldest} or later"
    yield "r", "R", re.search(r"R \(>= ([\d.]+)\)", (root / "bindings/r/bdl/DESCRIPTION").read_text())[1] + " or later"
    yield "julia", "Julia", re.search(r'^julia = "([\d.]+)"', (root / "bindings/julia/BDL.jl/Project.toml").read_text(), re.M)[1] + " or later"
    functions = sum(len(re.findall(r"^BDL_API ", text.read_text(), re.M)) for text in (root / "include/bdl").glob("*.h"))
    yield "c", "C99, C++11", f"{functions} functions"


def badge(label, value):
    left, right = 7 * len(label) + 12, 7 * len(value) + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{label}: {value}">'
        f'<rect width="{left}" height="20" fill="#555"/><rect x="{left}" width="{right}" height="20" fill="#0b5a8a"/>'
        '<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{label}</text><text x="{left + right / 2}" y="14">{value}</text></g></svg>\n'
    )


def main():
    stale = []
    for name, label, value in facts():
        path, drawn = here / f"badge-{name}.svg", badge(label, value)
        if "--check" not in sys.argv:
            path.write_text(drawn)
        elif not path.exists() or path.read_text() != drawn:
            stale.append(path.name)
    sys.exit(f"stale badges, run docs/images/badges.py: {stale}" if stale else 0)


main()
