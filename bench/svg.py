"""Log-log panels side by side as SVG, in colours that are legible on light and on dark backgrounds."""
import math

TEXT, GRID, LINE, GUIDE = "#7b818a", "#7b818a", "#2f81d8", "#d9822b"
WIDTH, HEIGHT = 330, 300  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 50


def number(value):
    """Short: 0.1, 50, 1e6."""
    exponent = round(math.log10(value))
    return f"1e{exponent}" if exponent > 3 and math.isclose(value, 10.0**exponent) else f"{value:g}"


def decades(values):
    """Powers of ten around the values."""
    low, high = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
    return [10.0**e for e in range(low, max(high, low + 1) + 1)]


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{words}</text>'


def panel(left, title, x_label, y_label, points, guide):
    """points: (x, y); guide: an exponent, drawn as a dashed line through the last point, and its label."""
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    y_ticks = decades(ys)
    wide = max(xs) / min(xs) > 100
    x_ticks = decades(xs) if wide else xs
    x0, x1 = left + LEFT, left + WIDTH - RIGHT
    y0, y1 = HEIGHT - BOTTOM, TOP

    def at_x(x):
        return x0 + (x1 - x0) * math.log(x / x_ticks[0]) / math.log(x_ticks[-1] / x_ticks[0])

    def at_y(y):
        return y0 + (y1 - y0) * math.log(y / y_ticks[0]) / math.log(y_ticks[-1] / y_ticks[0])

    out = [text((x0 + x1) / 2, 20, title, more='font-weight="bold"')]
    for tick in x_ticks:
        out.append(f'<path d="M{at_x(tick):.1f} {y0}V{y1}" stroke="{GRID}" stroke-opacity="0.25"/>')
        out.append(text(at_x(tick), y0 + 16, number(tick)))
    for tick in y_ticks:
        out.append(f'<path d="M{x0} {at_y(tick):.1f}H{x1}" stroke="{GRID}" stroke-opacity="0.25"/>')
        out.append(text(x0 - 6, at_y(tick) + 4, number(tick), "end"))
    out.append(f'<path d="M{x0} {y1}V{y0}H{x1}" fill="none" stroke="{TEXT}"/>')
    out.append(text((x0 + x1) / 2, HEIGHT - 12, x_label))
    middle = (y0 + y1) / 2
    out.append(text(left + 14, middle, y_label, more=f'transform="rotate(-90 {left + 14} {middle})"'))

    exponent, guide_label = guide
    end_x, end_y = points[-1]
    start_x = max(xs[0], end_x * (y_ticks[0] / end_y) ** (1 / exponent))  # where the guide leaves the panel
    start_y = end_y * (start_x / end_x) ** exponent
    out.append(f'<path d="M{at_x(start_x):.1f} {at_y(start_y):.1f}L{at_x(end_x):.1f} {at_y(end_y):.1f}" '
               f'stroke="{GUIDE}" stroke-width="1.5" stroke-dasharray="5 4"/>')
    out.append(text(x0 + 8, y1 + 14, guide_label, "start", f'style="fill:{GUIDE}"'))
    path = "L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in points)
    out.append(f'<path d="M{path}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3.5" fill="{LINE}"/>' for x, y in points]
    return "\n".join(out)


def figure(panels):
    """panels: argument lists of panel() without the first."""
    width = WIDTH * len(panels)
    body = "\n".join(panel(WIDTH * i, *arguments) for i, arguments in enumerate(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
            f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="12">\n'
            f"<style>text {{ fill: {TEXT} }}</style>\n{body}\n</svg>\n")
