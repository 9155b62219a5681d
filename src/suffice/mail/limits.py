"""How much of one message is looked at: every bound in one place.

Mail comes from strangers. Whatever a message holds, the work and the memory that it costs are
bounded by these numbers; what lies beyond them is left out, and the message says that it was cut.
"""

from __future__ import annotations

from typing import Final

MESSAGE_BYTES: Final = 16_000_000
"""Bytes of a raw message that are looked at: text rarely comes after attachments of this size."""

HEADER_BYTES: Final = 256_000
"""Bytes of the header of a message that are looked at."""

PART_HEADER_BYTES: Final = 4_000
"""Bytes of the header of a part that are looked at: it says what the part is, and no more."""

HEADER_FIELDS: Final = 1_000
"""Fields of a header that are looked at."""

TEXT_BYTES: Final = 1_000_000
"""Bytes of text that are read from a message, tags included, their transfer encoding undone."""

PARTS: Final = 200
"""Parts of a message that are looked at."""

DEPTH: Final = 12
"""How deep parts may lie inside parts."""

MARKS: Final = 1_000
"""Marks that a message may have."""

MARK_CHARACTERS: Final = 80
"""Characters of a mark."""

MAILBOX_MESSAGE_BYTES: Final = 100_000_000
"""Bytes that a mailbox gives of one message; above MESSAGE_BYTES, so that the cut is seen."""
