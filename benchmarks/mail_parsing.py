"""Raw mail to words, against two parsers that only take messages apart.

    python -m benchmarks.mail_parsing        MB of mail per second of CPU time, interleaved

Ours does more: words of the header, marks and text without tags, from every message. The standard
library's parser (its compatible policy, with a regular expression for tags) and fast-mail-parser
(Rust, optional) give parts alone; the latter refuses some messages. bogofilter, where it is
installed, learns: that is parsing, tokenizing and storing.
"""

from __future__ import annotations

import email
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TYPE_CHECKING

from suffice.mail.words import message_texts, read_message
from tests.reference.spamassassin import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 5
TAG = re.compile(r"<[^<>]*>")
ENVELOPE = b"From a@b Thu Aug 22 12:36:23 2002\n"


def main() -> None:
    """Check that texts agree, time all contenders in turn, and print a table."""
    raws = list(messages().values())
    size = sum(map(len, raws)) / 1e6
    same = sum(_words(read_message(raw).text) == _words(" ".join(library(raw))) for raw in raws)
    print(f"{len(raws):,} messages, {size:.1f} MB; the library finds the same words in {same:,}")
    rates: dict[str, list[float]] = {}
    for turn in range(ROUNDS + 1):
        for name, work in _contenders(raws):
            seconds = work()
            if turn:  # the first one compiles, and warms caches
                rates.setdefault(name, []).append(size / seconds)
    own = statistics.median(rates["suffice, text and marks"])
    print("\n| | MB per CPU second | ours is |\n|---|---|---|")
    for name, found in rates.items():
        rate = statistics.median(found)
        print(f"| {name} | {rate:.1f} ({min(found):.1f} to {max(found):.1f}) | {own / rate:.2f}x |")


def library(raw: bytes) -> Iterator[str]:
    """Yield the text parts that the standard library finds, tags replaced."""
    for part in email.message_from_bytes(raw).walk():
        if part.get_content_maintype() == "text" and not part.is_multipart():
            data = part.get_payload(decode=True)
            text = data.decode("latin_1") if isinstance(data, bytes) else ""
            yield TAG.sub(" ", text) if part.get_content_subtype() == "html" else text


def _contenders(raws: list[bytes]) -> Iterator[tuple[str, Callable[[], float]]]:
    def ours() -> None:
        for _ in message_texts(raws):
            pass

    def theirs() -> None:
        for raw in raws:
            list(library(raw))

    yield "suffice, text and marks", lambda: _own_seconds(ours)
    yield "standard library, parts", lambda: _own_seconds(theirs)
    if find_spec("fast_mail_parser"):
        yield "fast-mail-parser, parts", lambda: _own_seconds(lambda: _rust(raws))
    if shutil.which("bogofilter"):
        yield "bogofilter, learns", _bogofilter


def _rust(raws: list[bytes]) -> None:
    from fast_mail_parser import ParseError, parse_email

    for raw in raws:
        try:
            parse_email(raw)
        except ParseError:  # base64 that is none: 11 messages
            continue


def _own_seconds(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _bogofilter() -> float:
    """Return the CPU time in which bogofilter learns all messages."""
    with tempfile.TemporaryDirectory() as folder:
        boxes = {}
        for option, spam in (("-n", False), ("-s", True)):
            chosen = [raw for name, raw in messages().items() if name.startswith("spam") is spam]
            boxes[option] = Path(folder) / f"box{option}"
            lines = (raw if raw.startswith(b"From ") else ENVELOPE + raw for raw in chosen)
            boxes[option].write_bytes(b"\n\n".join(lines))
        before = getrusage(RUSAGE_CHILDREN)
        for option, box in boxes.items():
            with box.open("rb") as file:
                command = ["bogofilter", "-d", folder, "-M", option]
                subprocess.run(command, stdin=file, check=True)
        after = getrusage(RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


if __name__ == "__main__":
    main()
