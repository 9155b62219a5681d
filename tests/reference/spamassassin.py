"""The SpamAssassin public corpus: 6,047 raw messages, by name; spam lies in folders named so."""

from __future__ import annotations

import functools
import tarfile
from pathlib import Path

ARCHIVE = (
    Path(__file__).resolve().parents[3]
    / "shared" / "data" / "text" / "spamassassin" / "spamassassin_public_corpus.tar.xz"
)  # fmt: skip


@functools.cache
def messages() -> dict[str, bytes]:
    """Return all messages in the order of their names."""
    found = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                found[member.name] = file.read()
    return dict(sorted(found.items()))
