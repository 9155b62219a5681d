"""Small messages, made up: each different, and the same in every run."""

from __future__ import annotations

import random

WORDS = {
    "ham": [
        "lunch",
        "meeting",
        "report",
        "bob",
        "alice",
        "monday",
        "agenda",
        "thanks",
        "minutes",
        "draft",
    ],
    "spam": [
        "cheap",
        "pills",
        "winner",
        "$$$",
        "click",
        "free!!!",
        "offer",
        "viagra",
        "loan",
        "credit",
    ],
}
COMMON = ["the", "a", "of", "to", "you", "we", "is", "at", "on", "for", "please"]


def message(number: int, kind: str) -> bytes:
    """Return one message of a kind; no two numbers have the same."""
    rng = random.Random(f"{kind} {number}")
    words = rng.choices(WORDS[kind] + COMMON, k=rng.randint(3, 12))
    subject = rng.choice(WORDS[kind])
    return f"Subject: {subject}\nMessage-Id: <{number}@{kind}>\n\n{' '.join(words)}\n".encode()


def mbox(messages: list[bytes]) -> bytes:
    """Return messages as an mbox."""
    line = b"From bob Thu Aug 22 12:36:23 2002\n"
    return b"".join(line + raw + b"\n" for raw in messages)
