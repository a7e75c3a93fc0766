"""Fails if a page of the built site links to a page or an anchor that does not exist, and counts pages, links and code blocks.

usage: links.py build/site
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """The links, anchors and code blocks of one page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.blocks, self.outside = [], set(), 0, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        target = found.get("href") if tag in ("a", "link") else found.get("src")
        if target and target.startswith(("http:", "https:", "//")):
            self.outside += [target] if tag != "a" else []  # a link may leave the site, a script or picture may not
        elif target and not target.startswith(("mailto:", "data:")):
            self.links.append(target)
        if tag == "div" and "bdl-run" in (found.get("class") or ""):
            self.blocks += 1


def main():
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    problems = []
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            if not file.exists():
                problems.append(f"{path.relative_to(folder)}: {link} does not exist")
            elif anchor and file in pages and unquote(anchor) not in pages[file].anchors:
                problems.append(f"{path.relative_to(folder)}: {link} has no such anchor")
        problems += [f"{path.relative_to(folder)}: loads {target}" for target in page.outside]
    print("\n".join(problems))
    links = sum(len(page.links) for page in pages.values())
    blocks = sum(page.blocks for page in pages.values())
    print(f"{len(pages)} pages, {links} links, {blocks} code blocks that ran, {len(problems)} problems")
    sys.exit(bool(problems))


main()
