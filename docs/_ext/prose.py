"""Checks the prose of the pages by the rules of docs/developers/style.md: words we do not use, sentences that begin with
"What", long paragraphs and table cells, and code blocks that nothing runs.

usage: prose.py [FILE ...]   without arguments: README, CONTRIBUTING, SECURITY and all pages of docs/
"""

import re
import sys
from pathlib import Path

root = Path(__file__).parents[2]

# A pattern, and what to write instead.
words = [
    (r"\bbelie(f|fs|ve|ves|ved)\b", "posterior"),
    (r"\b(runs?|ran|running) away\b|\brun-away\b", "diverge"),
    (r"\bsame bits\b|\bbits of (one|a result|the result)|\bbit-identical\b|\bbitwise\b", "identical results"),
    (r"\bof (your|its|their|one's|each \w+'s) own\b", "your ..., a custom ..."),
    (r"\bof wh(om|ose)\b|\bof which\b", "a relative clause with a subject"),
    (r"\b(are|is) dear\b|\bdearest\b", "expensive"),
    (r"\bnobody is asked\b|\bin any company\b|\bis told so\b|\bare told so\b|\btold from\b", "name the actor"),
    (r"\b(docs?|page|table|file|header|sentence|code|figure|library)s? (says?|tells?|talks?|said|told)\b", "shows, lists, explains"),
    (r"\bhas not arrived\b", "has not converged"),
    (r"\ball the same\b", "still, anyway"),
    (r"\bbegins? anew\b", "restarts"),
    (r"\bseveral ranks\b|\branks of MPI\b|\beach rank\b|\ball ranks\b", "processes"),
]
openings = re.compile(r"^(What|Whoever|Whose|That which|By which|Of (what|which|the)|Unwritten)\b")
run_languages = {"python", "py", "r", "julia", "jl", "c", "cpp", "c++", "sh", "bash", "shell"}
longest_paragraph, longest_cell, longest_line = 90, 25, 110


def pages():
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md") if (root / name).exists())
    yield from sorted(
        path
        for path in (root / "docs").rglob("*.md")
        if "generated" not in path.parts
        and path.name not in ("style.md", "options.md")  # the one quotes what we do not write, the other is generated
    )


def plain(text):
    """Returns prose without code, formulas and the addresses of links."""
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"\$[^$]*\$", "X", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def parts(lines):
    """Yields (kind, line number, text): paragraphs, table rows, headings, opened fences."""
    paragraph, start, fence = [], 0, None
    for number, line in enumerate([*lines, ""], 1):
        opened = re.match(r"^\s*(`{3,})\s*(\{?[\w+-]*\}?)", line)
        if fence:
            if opened and opened[1] == fence and not opened[2]:
                fence = None
            continue
        if opened:
            fence = opened[1]
            yield "fence", number, opened[2]
        beginning = re.match(r"^\s*([-*+]|\d+\.) |^\s*(#|\||:::|\$\$|!\[|> )", line)
        if paragraph and (not line.strip() or beginning or opened):
            yield "paragraph", start, " ".join(paragraph)
            paragraph = []
        if opened or not line.strip() or re.match(r"^\s*(:::|\$\$)", line):
            continue
        if line.startswith("#"):
            yield "heading", number, line
            continue
        if line.lstrip().startswith("|"):
            yield "row", number, line
        elif not paragraph:
            paragraph, start = [line.strip().lstrip("#-*+> ")], number
        else:
            paragraph.append(line.strip())


def complaints(path):
    lines = path.read_text().split("\n")
    for kind, number, text in parts(lines):
        if kind == "fence":
            if text.lower() in run_languages and path.resolve().parent != root:  # readme.py runs those of README
                yield number, f"a block of {text} that is not run: use {{run}}"
            continue
        prose = plain(text)
        for pattern, better in words:
            found = re.search(pattern, prose, re.IGNORECASE)
            if found:
                yield number, f'"{found[0]}": write "{better}"'
        for sentence in re.split(r"(?<=[.!?:;]) +", prose):
            if kind == "paragraph" and openings.match(sentence) and not sentence.endswith("?"):
                yield number, f'a sentence that begins with "{openings.match(sentence)[0]}": {sentence[:60]}'
        if kind == "paragraph" and len(prose.split()) > longest_paragraph:
            yield number, f"a paragraph of {len(prose.split())} words"
        for cell in prose.split("|") if kind == "row" else []:
            if len(cell.split()) > longest_cell:
                yield number, f"a table cell of {len(cell.split())} words"
        if kind == "paragraph":
            for offset, line in enumerate(lines[number - 1 :]):
                if not line.strip() or (offset and re.match(r"^\s*([-*+#|:!]|```|\d+\.)", line)):
                    break
                if len(line) > longest_line and "](" not in line:
                    yield number + offset, f"a line of {len(line)} characters"


def main():
    count = 0
    for path in map(Path, sys.argv[1:]) if len(sys.argv) > 1 else pages():
        for number, complaint in complaints(path):
            print(f"{path}:{number}: {complaint}")
            count += 1
    sys.exit(f"{count} complaints" if count else 0)


if __name__ == "__main__":
    main()
