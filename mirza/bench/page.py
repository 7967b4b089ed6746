"""A page: headings, paragraphs, tables and plots, as Markdown or as one HTML file that needs nothing from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` are as long as `columns`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Plot:
    """An SVG, and what it shows, for whoever has only the text."""

    svg: str
    caption: str


Block = Heading | Paragraph | Table | Plot


def markdown(blocks: Sequence[Block]) -> str:
    """The page as Markdown; of plots, what they show (the HTML page has them)."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(text, level):
                parts.append(f"{'#' * level} {text}")
            case Paragraph(text):
                parts.append(text)
            case Plot(_, caption):
                parts.append(f"*Plot in the HTML report: {caption}*")
            case Table(columns, rows):
                lines = [columns, ["---"] * len(columns), *rows]
                parts.append("\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#0f172a}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{border:1px solid #cbd5e1;padding:.25rem .6rem;text-align:left}th{background:#f1f5f9}
figure{margin:1rem 0;max-width:44rem}figcaption{color:#475569;font-size:.9em}code{background:#f1f5f9}
"""


def html(blocks: Sequence[Block]) -> str:
    """The page as one HTML file that needs nothing from anywhere."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(text, level):
                parts.append(f"<h{level}>{escape(text)}</h{level}>")
            case Paragraph(text):
                parts.append(f"<p>{_inline(text)}</p>")
            case Plot(svg, caption):
                parts.append(f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>")
            case Table(columns, rows):
                head = "".join(f"<th>{escape(cell)}</th>" for cell in columns)
                body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
                parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    head = f'<meta charset="utf-8"><title>Mirza, measured</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _inline(text: str) -> str:
    """Code between back-ticks, all else as it is."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))
