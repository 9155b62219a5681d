"""HTML out of words: the one door through which names and cells of the data reach the page."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from suffice.printing.terminal_words import cut, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 60
"""Places that a name may take on the page; the whole of it is told when one points at it."""
FORMULA = re.compile(r"\bp\([a-z]+ \| [a-z]+\)")
"""p(y | x) stays on one line."""
TOLD = 500
"""Characters of a name that are told then. A choice: a name may be a whole page."""


def text(words: object) -> str:
    r"""Return words as HTML: marks are escaped, what cannot be seen is written out.

    >>> text('<script>alert("x")</script>')
    '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;'
    >>> print(text("turned\u202earound"))
    turned\u202earound
    """
    said = escape(printable(words)).replace(" %", "&nbsp;%")
    return FORMULA.sub(lambda found: found[0].replace(" ", "&nbsp;"), said)


def name(word: object, most: int = LONGEST) -> str:
    """Return the name of a column or class, or a cell, apart from the direction of its neighbours.

    >>> name("x" * 70)[:26]
    '<bdi title="xxxxxxxxxxxxxx'
    >>> name("age")
    '<bdi>age</bdi>'
    """
    whole = printable(word)
    shown = cut(whole, most)
    title = f' title="{escape(cut(whole, TOLD))}"' if shown != whole else ""
    return f"<bdi{title}>{escape(shown)}</bdi>"


def quoted(word: object, most: int = 40) -> str:
    """Return a class in quotation marks: in a sentence, `-` or `no` is not seen to be one.

    >>> quoted("-")
    '“<bdi>-</bdi>”'
    """
    return f"“{name(word, most)}”"


def names(words: Iterable[object], most: int = 8) -> str:
    """Return several names in a row, and how many more there are."""
    every = list(words)
    shown = [name(word, 40) for word in every[:most]]
    if len(every) > most:
        shown.append(f"{len(every) - most:,} more")
    return ", ".join(shown)


def listing(sentences: Sequence[str]) -> str:
    """Return sentences, which are HTML already, as a list; nothing if there are none."""
    if not sentences:
        return ""
    return f"<ul>{''.join(f'<li>{sentence}</li>' for sentence in sentences)}</ul>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    figures: Sequence[int] = (),
    kind: str = "",
) -> str:
    """Return a table of cells that are HTML already; columns of `figures` stand to the right.

    The first cell of a row is its head. Wide tables scroll by themselves, not with the page. The
    `kind` is for the style sheet: on a phone, cells of "stacked" tables stand below each other, and
    rows of "cards" become paragraphs with a picture beside them.
    """

    def side(j: int) -> str:
        return ' class="figure"' if j in figures else ""

    def phone_head(j: int) -> str:
        return f' data-head="{heads[j]}"' if kind == "cards" and heads[j] else ""

    style = f' class="{kind}"' if kind else ""
    # A head without words is none for those who hear the page.
    head = "".join(
        f'<th scope="col"{side(j)}>{cell}</th>' if cell else "<td></td>"
        for j, cell in enumerate(heads)
    )
    body = []
    for first, *rest in rows:
        cells = "".join(
            f"<td{side(j)}{phone_head(j)}>{cell}</td>" for j, cell in enumerate(rest, start=1)
        )
        body.append(f'<tr><th scope="row"{side(0)}>{first}</th>{cells}</tr>')
    return (
        f'<div class="wide"><table{style}><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def bar(share: float) -> str:
    """Return a bar that fills this share of its cell."""
    width = 100.0 * min(max(share, 0.0), 1.0)
    return f'<span class="track"><span class="bar" style="width:{width:.1f}%"></span></span>'
