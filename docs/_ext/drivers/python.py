"""Runs the blocks of a page in one session: a line of standard input names a file with code and the stem of its figures."""

import ast
import os
import sys
import traceback

os.environ.setdefault("MPLBACKEND", "svg")


def run(path, stem, names):
    tree = ast.parse(open(path).read())
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = tree.body[:-1] if last else tree.body
    exec(compile(ast.Module(body, []), "example.py", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "example.py", "eval"), names) if last else None
    if not save_figures(stem) and value is not None:
        print(repr(value))


def save_figures(stem):
    plots = sys.modules.get("matplotlib.pyplot")
    numbers = plots.get_fignums() if plots else []
    for k, number in enumerate(numbers):
        plots.figure(number).savefig(f"{stem}-{k}.svg", bbox_inches="tight", metadata={"Date": None})
    if numbers:
        plots.close("all")
    return bool(numbers)


def main():
    names = {"__name__": "__main__"}
    for line in sys.stdin:
        path, stem = line.split()
        state = "ok"
        try:
            run(path, stem, names)
        except BaseException as error:
            state = "failed"
            shown = "".join(traceback.format_exception_only(type(error), error))
            print(shown.rstrip())
        print(f"\x01{state}", flush=True)


main()
