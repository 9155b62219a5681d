"""Who hears of what training decides, and of how far it is; and how settings are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    Share = Callable[[], float | None]


class ProgressMeter(Protocol):
    """How far some work is. It is entered when the work begins, and left when it ends."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def begin(self) -> None:
        """Begin to count anew: rows may be read more than once."""

    def more(self, count: int) -> None:
        """Count what has been done; several threads may call it."""

    @property
    def rows(self) -> int:
        """How many were counted since the beginning."""
        ...


class ShowsProgress(Protocol):
    """What is called when some work begins.

    `what` names the work, `share` returns which part of it is done (None: not known), `unit` says
    what is counted.
    """

    def __call__(  # noqa: D102
        self, what: str, share: Share | None = None, unit: str = "rows"
    ) -> ProgressMeter: ...


class SilentProgress:
    """Counts, and shows nothing."""

    def __init__(self, what: str = "", share: Share | None = None, unit: str = "rows") -> None:
        del what, share, unit
        self.rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self) -> None:
        """Begin to count anew."""
        self.rows = 0

    def more(self, count: int) -> None:
        """Count what has been done."""
        self.rows += count


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
        self._on_note = on_note
        self.progress: ShowsProgress = SilentProgress if progress is None else progress

    def note(self, text: str) -> None:
        """Say something that the user should know."""
        self.notes.append(text)
        if self._on_note is not None:
            self._on_note(text)

    def option(self, name: str, value: str | None = None) -> str:
        """Return how a setting is written where it can be changed: a command has other words."""
        return f"{name}=" if value is None else f'{name}="{value}"'
