"""Bytes that come in pieces, as a file that can be read."""

from __future__ import annotations

import io


class BytePieces(io.BufferedIOBase):
    """A stream whose kinds say, by `read1`, which bytes come next; everything else follows."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Return this many bytes, fewer only at the end."""
        wanted = -1 if size is None or size < 0 else size
        parts = []
        while wanted and (part := self.read1(wanted)):
            parts.append(part)
            wanted -= len(part) if wanted > 0 else 0
        return b"".join(parts)
