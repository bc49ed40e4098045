"""SVG without a library: line charts with logarithmic axes, because what is drawn here grows over orders of magnitude; flame graphs."""
import html
import math
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 320, 70, 50, 36, 130
COLOURS = ("#0b6bcb", "#c4441c", "#2a7d3c", "#7a4fb5", "#8a6d00")


def short(value):
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:g}{unit}"
    return f"{value:g}"


def span(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def draw(file, title, x_name, y_name, series):
    """`series`: name -> [(x, y)], all above zero."""
    points = [point for line in series.values() for point in line]
    (x_low, x_high), (y_low, y_high) = span([x for x, _ in points]), span([y for _, y in points])

    def at(x, y):
        return (LEFT + (math.log10(x) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (math.log10(y) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><text x="{LEFT}" y="20" font-size="13">{title}</text>']
    for power in range(x_low, x_high + 1):
        x, _ = at(10 ** power, 10 ** y_low)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(10 ** power)}</text>')
    for power in range(y_low, y_high + 1):
        _, y = at(10 ** x_low, 10 ** power)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(10 ** power)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x_name}</text>'
               f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    for (name, line), colour in zip(series.items(), COLOURS):
        places = [at(x, y) for x, y in line]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        out.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    Path(file).write_text("\n".join(out) + "\n</svg>\n")


ROW, WIDE, SEEN_MIN = 16, 1400, 0.0015  # narrower frames are left out, with all that stands on them


def draw_flames(file, title, stacks):
    """`stacks`: (outermost frame, ..., innermost) -> how often it was met. The width is the share; hovering tells it."""
    total = sum(stacks.values())
    root = {"count": total, "children": {}}
    for frames, count in stacks.items():
        node = root
        for frame in frames:
            node = node["children"].setdefault(frame, {"count": 0, "children": {}})
            node["count"] += count
    boxes = []

    def place(node, x, depth):
        for name, child in sorted(node["children"].items()):
            width = child["count"] / total
            if width >= SEEN_MIN:
                boxes.append((name, x, depth, width))
                place(child, x, depth + 1)
            x += width

    place(root, 0.0, 0)
    height = (max(depth for _, _, depth, _ in boxes) + 1) * ROW + TOP
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}" font-family="monospace" font-size="10">',
           f'<rect width="{WIDE}" height="{height}" fill="#fff"/><text x="8" y="20" font-size="13">{html.escape(title)}</text>']
    for name, x, depth, width in boxes:
        left, top, wide = x * WIDE, height - (depth + 1) * ROW, width * WIDE
        hue = sum(map(ord, name)) % 40 + 15  # the same name, the same colour
        letters = int(wide / 6.1)
        label = html.escape(name[:letters]) if letters >= 3 else ""
        out.append(f'<g><title>{html.escape(name)}: {width:.1%}</title><rect x="{left:.1f}" y="{top}" width="{max(wide - 0.5, 0.3):.1f}" height="{ROW - 1}" '
                   f'fill="hsl({hue} 85% 65%)"/><text x="{left + 2:.1f}" y="{top + 11}">{label}</text></g>')
    Path(file).write_text("\n".join(out) + "\n</svg>\n")
