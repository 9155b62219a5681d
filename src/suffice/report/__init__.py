"""One self-contained HTML page on a table, its models and what to choose.

write_report   compares the models on rows and labels, and writes the page
page           the page of a comparison that is there already, as text

The page holds its pictures and its style, loads nothing and runs nothing. Whatever comes from the
data is escaped. Without matplotlib it has the text, and says what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.report.html_page import page, write_report

__all__ = [
    "page",
    "write_report",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.report.html_page": ["page", "write_report"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
