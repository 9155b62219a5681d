"""Who hears of what training decides, and of how far it is; and how settings are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.evaluation.work_progress import SilentProgress

if TYPE_CHECKING:
    from collections.abc import Callable

    from suffice.evaluation.work_progress import ShowsProgress


class Hooks:
    """How training speaks to whoever asked for it.

    notes      all that was said, in order
    progress   what is called when some work begins

    `on_note` hears each note at once: whoever waits reads it before the work is done, and before
    a refusal.

    >>> hooks = Hooks(on_note=print)
    >>> hooks.note("one row is left out")
    one row is left out
    >>> hooks.notes, hooks.option("model", "gda")
    (['one row is left out'], 'model="gda"')
    """

    def __init__(
        self,
        on_note: Callable[[str], object] | None = None,
        progress: ShowsProgress | None = None,
    ) -> None:
        self.notes: list[str] = []
        self.learns_unlabelled = False
        """Whether rows without a label are learned from: what became of them is said later."""
        self.families: object = None
        """What is asked of the families of columns: notes on texts say it."""
        self._on_note = on_note
        self.progress: ShowsProgress = SilentProgress if progress is None else progress

    def note(self, text: str) -> None:
        """Say something that the user should know."""
        self.notes.append(text)
        if self._on_note is not None:
            self._on_note(text)

    def note_unlabelled(self, text: str) -> None:
        """Say how many rows without a label are left out, unless they are learned from."""
        if not self.learns_unlabelled:
            self.note(text)

    def option(self, name: str, value: str | None = None) -> str:
        """Return how a setting is written where it can be changed: a command has other words."""
        name = name.replace("-", "_")
        return f"{name}=" if value is None else f'{name}="{value}"'

    def column(self, name: str, kind: str) -> str:
        """Return how somebody says what a column is."""
        return f"columns={{{name!r}: {kind!r}}}"
