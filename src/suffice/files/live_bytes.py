"""Bytes that come as somebody writes them: a pipe gives what is there, and says when to wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from suffice.files.byte_pieces import BytePieces

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 16
"""Bytes that are asked for at a time: as many as a pipe holds."""
PATIENCE = 0.02
"""Seconds without a byte after which a writer is taken to pause."""


class LiveBytes(BytePieces):
    r"""A stream that is read once, in the pieces in which it comes.

    What was looked at stays to be read.

    >>> import io
    >>> stream = LiveBytes(io.BytesIO(b"a,b\n1,2\n"))
    >>> stream.look(lambda head: b"\n" in head)
    b'a,b\n1,2\n'
    >>> stream.read(3), stream.read()
    (b'a,b', b'\n1,2\n')
    """

    def __init__(self, held: Any, *, closes: bool = False) -> None:
        self._held = held
        self._closes = closes
        self._ahead = b""
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._ended

    def look(self, enough: Callable[[bytes], bool], most: int = BLOCK) -> bytes:
        """Return how the rest begins: enough of it, and then what comes without a pause."""
        while not self._ended and not enough(self._ahead):
            self._more()
        due = time.monotonic() + PATIENCE
        while not self._ended and len(self._ahead) < most:
            if self._nothing_comes(due - time.monotonic()):
                break
            self._more()
        return self._ahead

    def _more(self) -> None:
        block = self._held.read1(BLOCK)
        self._ahead += block
        self._ended = not block

    def waits(self, seconds: float) -> bool:
        """Whether a reader would have to wait for longer than this."""
        return not self._ahead and not self._ended and self._nothing_comes(seconds)

    def _nothing_comes(self, seconds: float) -> bool:
        inner = getattr(self._held, "waits", None)
        if inner is not None:
            return bool(inner(seconds))
        try:
            place = self._held.fileno()
        except (OSError, AttributeError):
            return False  # it is in memory
        import select

        try:
            ready, _, _ = select.select([place], [], [], max(0.0, seconds))
        except (OSError, ValueError):  # where pipes cannot be asked: answer rather than wait
            return True
        return not ready

    def read1(self, size: int = -1, /) -> bytes:
        """Return what is there, and wait only if nothing is."""
        if not self._ahead and not self._ended:
            self._more()
        size = len(self._ahead) if size < 0 else size
        given, self._ahead = self._ahead[:size], self._ahead[size:]
        return given

    def close(self) -> None:
        """Close what is read too, where it was opened for this."""
        if self._closes and not self.closed:
            self._held.close()
        super().close()
