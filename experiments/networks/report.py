#!/usr/bin/python3
"""Table of the convolutional networks: report.py RESULTS prints it, report.py RESULTS PAGE rewrites it in a page."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from results import publish, read, table  # noqa: E402

HEAD = ["network", "method", "epochs", "test error", "negative log likelihood", "ECE", "s an epoch"]


def line(row):
    return [row["network"], row["method"], row["epochs"], f"{float(row['error']):.2f} %", f"{float(row['nll']):.4f}",
            f"{float(row['ece']):.4f}", f"{float(row['seconds_per_epoch']):.1f}"]


publish({"networks": table(HEAD, map(line, read(sys.argv[1], "networks")))}, *sys.argv[2:3])
