# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures in SVG, as plain as they get: bars and bubbles over named places on a logarithmic scale,
lines over a share."""

import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 480
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 70, 90
LETTER = 6  # so wide is one of these words, about
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#666666", "#000000")


class Picture:
    """`low` and `high` bound the values; they grow by powers of ten where `logarithmic`."""

    def __init__(self, title, unit, low, high, logarithmic=True):
        self.logarithmic = logarithmic
        self.low = 10 ** math.floor(math.log10(low)) if logarithmic else low
        self.high = 10 ** math.ceil(math.log10(high)) if logarithmic else high
        self.parts = []
        self.text(LEFT, 24, title, size=16)
        self.text(LEFT, TOP - 8, unit, size=11)
        for value in self._ticks():
            y = self.y(value)
            self.parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            )
            self.text(LEFT - 6, y + 4, f"{value:,g}", anchor="end")

    def _ticks(self):
        if not self.logarithmic:
            return [self.low + (self.high - self.low) * i / 5 for i in range(6)]
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10**power for power in range(first, last + 1)]

    def y(self, value):
        scale = math.log10 if self.logarithmic else float
        share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def x(self, share):
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, words, size=11, anchor="start"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">'
            f"{escape(str(words))}</text>"
        )

    def place_name(self, share, words):
        for i, line in enumerate(words.split("\n")):
            self.text(self.x(share), HEIGHT - BOTTOM + 18 + i * 14, line, anchor="middle")

    def bar(self, share, width, value, colour):
        y = self.y(value)
        self.parts.append(
            f'<rect x="{self.x(share):.1f}" y="{y:.1f}" width="{width * (WIDTH - LEFT - RIGHT):.1f}" '
            f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[colour]}"/>'
        )

    def bubble(self, share, value, radius, colour, words):
        x, y = self.x(share), self.y(value)
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{COLOURS[colour]}" '
            'fill-opacity="0.5"/>'
        )
        self.text(x, y + 4, words, anchor="middle")

    def line(self, points, colour, dashed=False):
        path = " ".join(f"{self.x(share):.1f},{self.y(value):.1f}" for share, value in points)
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[colour]}" '
            f'stroke-width="2"{dashes}/>'
        )

    def legend(self, names):
        x = LEFT + 110
        for i, name in enumerate(names):
            self.parts.append(
                f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS[i]}"/>'
            )
            self.text(x + 16, 46, name)
            x += 40 + LETTER * len(name)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n"
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
                'font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n'
            )
            file.write("\n".join(self.parts) + "\n</svg>\n")
