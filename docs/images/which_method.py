"""Draws docs/images/which-method.svg: the five questions that lead to a method.

usage: python3 docs/images/which_method.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch

QUESTION, ANSWER, LINE = "#e3ecf7", "#fdeedc", "#555555"
WIDTH, HEIGHT, STEP = 3.9, 1.15, 1.75

# Questions from top to bottom, and where the answer yes leads.
QUESTIONS = [
    ("1. Do rows arrive one\nafter another?", "stream filter (lo-fi)\npartial_fit"),
    ("2. Are the rows images?", "convolutional network\nthe method depends on the size"),
    ("3. Is a linear model enough?", "generalised linear model\nbest Gaussian posterior"),
    ("4. Must a fit finish within seconds?", "laplace\na fifth of the time or less"),
    ("5. Does uncertainty far from\nthe data matter most?", "five fits of the default\nmembers = 5"),
]
LAST = "the default (slang, rank 5)"


def box(axes, x, y, text, colour):
    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.15", fc=colour, ec=LINE))
    axes.text(x, y, text, ha="center", va="center", fontsize=10, linespacing=1.3)


def arrow(axes, start, end):
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": LINE, "shrinkA": 0, "shrinkB": 0})


def main():
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "bdl", "font.family": ["DejaVu Sans", "sans-serif"]})
    bottom = -len(QUESTIONS) * STEP
    figure = pyplot.figure(figsize=(6.4, 6.4))
    axes = figure.add_axes((0, 0, 1, 1), frame_on=False, xticks=[], yticks=[])
    axes.set(xlim=(-2.2, 7.6), ylim=(bottom - 0.7, 0.7))
    for number, (question, answer) in enumerate(QUESTIONS):
        y = -number * STEP
        box(axes, 0, y, question, QUESTION)
        box(axes, 5.4, y, answer, ANSWER)
        arrow(axes, (WIDTH / 2, y), (5.4 - WIDTH / 2, y))
        axes.text(2.7, y + 0.12, "yes", fontsize=9, color=LINE, ha="center", va="bottom")
        arrow(axes, (0, y - HEIGHT / 2), (0, y - STEP + HEIGHT / 2))
        axes.text(0.15, y - STEP / 2, "no", fontsize=9, color=LINE, va="center")
    box(axes, 0, bottom, LAST, ANSWER)
    figure.savefig(Path(__file__).parent / "which-method.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
