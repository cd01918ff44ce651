# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A report as blocks, and the two forms it is written in: Markdown and one HTML page.

The page is XML as well: every element is closed, so that any reader of either finds what it looks
for. It needs nothing but itself: pictures stand in it, styles too.
"""
import os
import re
from collections import namedtuple
from xml.sax.saxutils import escape, quoteattr

Heading = namedtuple("Heading", "level text")
Paragraph = namedtuple("Paragraph", "text")
Bullets = namedtuple("Bullets", "items")
Table = namedtuple("Table", "columns rows")
Picture = namedtuple("Picture", "name words svg")
Lines = namedtuple("Lines", "text")  # as they are, letters of one width
Page = namedtuple("Page", "blocks")  # stands in the page only: too long for the other form

STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 72em; margin: 1.5em auto; padding: 0 1em }
table { border-collapse: collapse; font-size: 13px; margin: 0.8em 0 }
th, td { border: 1px solid #ccc; padding: 2px 7px; text-align: left; vertical-align: top }
th { background: #eee; position: sticky; top: 0 }
tr:nth-child(even) td { background: #f7f7f7 }
h2 { margin-top: 2em; border-bottom: 1px solid #ccc }
nav a { margin-right: 1em; white-space: nowrap }
svg { max-width: 100%; height: auto }
figure { margin: 1em 0 }
figcaption { color: #555; font-size: 13px }
pre { background: #f7f7f7; padding: 0.6em; overflow-x: auto; font-size: 12px }
td.missed { background: #f9d0d4 !important } td.undecided { background: #efe9bf !important }
"""


def anchor(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


# ---- Markdown ------------------------------------------------------------------------------------


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def markdown_table(table):
    lines = ["| " + " | ".join(map(cell, table.columns)) + " |", "|---" * len(table.columns) + "|"]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in table.rows]
    return "\n".join(lines)


def markdown_block(block):
    if isinstance(block, Heading):
        return "#" * block.level + " " + block.text
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Bullets):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, Table):
        return markdown_table(block)
    if isinstance(block, Picture):
        return f"![{block.words}](pictures/{block.name}.svg)"
    return "```\n" + block.text.rstrip("\n") + "\n```"


def markdown(blocks):
    shown = [block for block in blocks if not isinstance(block, Page)]
    return "\n\n".join(map(markdown_block, shown)) + "\n"


# ---- HTML ----------------------------------------------------------------------------------------


def picture_inline(picture):
    """Without the head of a file; what it calls its parts is its own among all pictures."""
    svg = picture.svg[picture.svg.index("<svg") :]
    own = f"{picture.name}-"
    svg = re.sub(r'\bid="', f'id="{own}', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{own}", svg)
    head = f"<svg role=\"img\" aria-label={quoteattr(picture.words)} "
    return head + svg[len("<svg ") :]


def html_cell(text):
    word = str(text).rstrip("?")
    kind = f' class="{word}"' if word in ("missed", "undecided") else ""
    return f"<td{kind}>{escape(str(text))}</td>"


def html_table(table):
    rows = ["<tr>" + "".join(f"<th>{escape(str(c))}</th>" for c in table.columns) + "</tr>"]
    rows += ["<tr>" + "".join(map(html_cell, row)) + "</tr>" for row in table.rows]
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def html_text(text):
    """The little of Markdown that paragraphs and items have: **strong** and `code`."""
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def html_block(block):
    if isinstance(block, Heading):
        level = f"h{block.level}"
        return f'<{level} id="{anchor(block.text)}">{escape(block.text)}</{level}>'
    if isinstance(block, Paragraph):
        return f"<p>{html_text(block.text)}</p>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{html_text(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Table):
        return html_table(block)
    if isinstance(block, Picture):
        caption = f"<figcaption>{escape(block.words)}</figcaption>"
        return f"<figure>{picture_inline(block)}{caption}</figure>"
    if isinstance(block, Page):
        return "\n".join(map(html_block, block.blocks))
    return f"<pre>{escape(block.text)}</pre>"


def html(blocks):
    title = next(block.text for block in blocks if isinstance(block, Heading))
    links = "".join(
        f'<a href="#{anchor(block.text)}">{escape(block.text)}</a> '
        for block in [b for a in blocks for b in (a.blocks if isinstance(a, Page) else [a])]
        if isinstance(block, Heading) and block.level == 2
    )
    body = "\n".join(map(html_block, blocks)).replace("</h1>", f"</h1>\n<nav>{links}</nav>", 1)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


# ---- Files ---------------------------------------------------------------------------------------


def pictures_in(blocks):
    for block in blocks:
        if isinstance(block, Picture):
            yield block
        elif isinstance(block, Page):
            yield from pictures_in(block.blocks)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_all(blocks, folder):
    """report.md with its pictures, and report.html, which has them in it."""
    texts = {"report.md": markdown(blocks), "report.html": html(blocks)}
    pictures = os.path.join(folder, "pictures")
    os.makedirs(pictures, exist_ok=True)
    for old in os.listdir(pictures):
        if old.endswith(".svg"):
            os.unlink(os.path.join(pictures, old))
    for picture in pictures_in(blocks):
        write(os.path.join(pictures, f"{picture.name}.svg"), picture.svg)
    for name, text in texts.items():
        write(os.path.join(folder, name), text)
