"""CSV files of experiments, grouped and averaged over seeds or splits, and Markdown tables in pages."""
import collections
import csv
import math
import pathlib
import re


def read(folder, name):
    """Rows of a file of the results; none without it."""
    path = pathlib.Path(folder) / f"{name}.csv"
    if not path.exists():
        return []
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def grouped(rows, *keys):
    """Rows by the values of some columns, in order of appearance."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def mean_and_error(values):
    """Mean and its standard error (nan for one value)."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1) if n > 1 else math.nan
    return mean, math.sqrt(variance / n)


def by_seed(rows, column):
    return {row["seed"]: float(row[column]) for row in rows}


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def publish(tables, page=None):
    """Prints all tables; or rewrites them in a page, between <!-- table NAME --> and <!-- end -->."""
    if page is None:
        for name, text in tables.items():
            print(f"## {name}\n\n{text.strip()}\n")
        return
    path = pathlib.Path(page)
    content = path.read_text(encoding="utf-8")
    for name, text in tables.items():
        content = re.sub(rf"(<!-- table {name} -->\n).*?(<!-- end -->)",
                         lambda match, text=text: f"{match[1]}\n{text.strip()}\n\n{match[2]}", content, flags=re.S)
    path.write_text(content, encoding="utf-8")
