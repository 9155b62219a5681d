"""Mail is found wherever it lies."""

import gzip
import io
import os
import re
import sys
import tracemalloc
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import BadFile
from suffice.mail import mailboxes as mbox
from suffice.mail.limits import MAILBOX_MESSAGE_BYTES, MESSAGE_BYTES
from suffice.mail.mailboxes import (
    is_maildir,
    is_mbox,
    is_message,
    mbox_messages,
    parts_messages,
    read_mailbox,
)
from suffice.mail.words import read_message

FROM = b"From bob@example.com Thu Aug 22 12:36:23 2002\n"
ONE, TWO = b"To: one\n\nFirst.\n", b"To: two\n\nSecond.\n"


def test_an_mbox_gives_its_messages(tmp_path):
    box = tmp_path / "box"
    box.write_bytes(FROM + ONE + b"\n" + FROM + TWO + b"\n")
    assert list(read_mailbox(box)) == [ONE, TWO]
    assert list(read_mailbox(str(box))) == [ONE, TWO]


def test_messages_that_were_put_together_without_empty_lines_are_parted(tmp_path):
    box = tmp_path / "box"
    box.write_bytes(FROM + ONE + FROM + TWO)
    assert list(read_mailbox(box)) == [ONE, TWO]


def test_escaped_lines_are_as_they_were():
    box = FROM + b"To: a\n\n>From b\n>>From c\n> From d\nFrom e\n"
    assert list(mbox_messages(io.BytesIO(box))) == [b"To: a\n\nFrom b\n>From c\n> From d\nFrom e\n"]


def test_an_mbox_may_have_carriage_returns():
    box = (FROM + ONE + b"\n" + FROM + TWO + b"\n").replace(b"\n", b"\r\n")
    assert [raw.replace(b"\r\n", b"\n") for raw in mbox_messages(io.BytesIO(box))] == [ONE, TWO]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"From - Thu Aug 22 12:36:23 2002", True),
        (b"From ???@??? Thu Aug 22 12:36:23 2002 +0200", True),
        (b"From bob 2002-08-22 12:36", True),
        (b"From bob@example.com", False),
        (b"From 12:30 on, bring 2002 of them"[:15], False),
        (b"From what I hear, 2002 was a good year", False),
        (b"From: bob Thu Aug 22 12:36:23 2002", False),
        (b"from bob Thu Aug 22 12:36:23 2002", False),
        (b"", False),
    ],
)
def test_a_line_parts_messages_if_it_has_a_time_and_a_year(line, parts):
    assert parts_messages(line) is parts


def reference(data: bytes) -> list[bytes]:
    """Part an mbox line by line."""
    messages: list[list[bytes]] = []
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        if len(line) < mbox.LINE and parts_messages(line):
            messages.append([])
        elif messages or line.strip():
            if not messages:
                messages.append([])
            messages[-1].append(line)
    return [mbox._unescaped(b"".join(message)) for message in messages]


@given(
    st.lists(
        st.sampled_from(
            [b"From a 1:02 2003\n", b"\n", b"From ", b"x", b"xyz\n", b"From b\n", b">From c\n",
             b"\r\n", b"1:02 2003", b"\nFrom ", b"From z 10:00 1999", b"x" * 500]
        ),
        max_size=14,
    ).map(b"".join),
    st.sampled_from([1, 2, 3, 7, 64, 1_000]),
)  # fmt: skip
def test_an_mbox_is_parted_the_same_in_blocks_of_any_size(data, block):
    before, mbox.BLOCK = mbox.BLOCK, block
    try:
        assert list(mbox_messages(io.BytesIO(data))) == reference(data)
    finally:
        mbox.BLOCK = before


class Endless(io.RawIOBase):
    """Messages of a given size, made as they are read, so that only the reader holds them."""

    def __init__(self, messages: int, size: int) -> None:
        self.left = deque([FROM + b"To: a\n\n", *[b"text\n" * 200] * (size // 1_000)] * messages)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        if not self.left:
            return 0
        piece = self.left.popleft()
        if len(piece) > len(buffer):
            self.left.appendleft(piece[len(buffer) :])
            piece = piece[: len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)


def test_a_message_that_is_too_long_is_cut_and_the_next_one_is_found():
    box = io.BufferedReader(Endless(2, 300_000))
    first, second = mbox_messages(box, most=100_000)
    assert len(first) == len(second) == 100_000
    assert first.startswith(b"To: a\n\ntext")


def test_an_mbox_is_not_held_in_memory():
    box = io.BufferedReader(Endless(40, 1_000_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in mbox_messages(box)) == 40
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000


def test_a_message_that_is_cut_is_seen_to_be():
    assert MAILBOX_MESSAGE_BYTES > MESSAGE_BYTES
    assert read_message(b"\n" + b"a" * MESSAGE_BYTES).truncated


def test_a_maildir_gives_its_messages_in_the_order_of_their_names(tmp_path):
    for part in ("cur", "new", "tmp"):
        (tmp_path / part).mkdir()
    (tmp_path / "cur" / "2.a:2,S").write_bytes(TWO)
    (tmp_path / "new" / "1.a").write_bytes(ONE)
    (tmp_path / "new" / ".hidden").write_bytes(b"no")
    (tmp_path / "tmp" / "0.a").write_bytes(b"not yet")
    assert is_maildir(tmp_path)
    assert list(read_mailbox(tmp_path)) == [ONE, TWO]


def test_a_maildir_may_change_while_it_is_read(tmp_path):
    for part in ("cur", "new"):
        (tmp_path / part).mkdir()
    for name, content in (("1", ONE), ("2", TWO), ("3", ONE)):
        (tmp_path / "new" / name).write_bytes(content)
    box = read_mailbox(tmp_path)
    assert next(box) == ONE
    (tmp_path / "new" / "2").rename(tmp_path / "cur" / "2:2,S")
    (tmp_path / "new" / "3").unlink()
    assert list(box) == [TWO]


def test_an_empty_maildir_has_no_messages(tmp_path):
    for part in ("cur", "new"):
        (tmp_path / part).mkdir()
    assert list(read_mailbox(tmp_path)) == []


def test_a_folder_gives_the_messages_of_its_files(tmp_path):
    (tmp_path / "b.eml").write_bytes(TWO)
    (tmp_path / "a.mbox").write_bytes(FROM + ONE + b"\n")
    (tmp_path / "cmds").write_bytes(b"mv 1 2\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / ".hidden.eml").write_bytes(ONE)
    (tmp_path / "sub").mkdir()
    assert list(read_mailbox(tmp_path)) == [ONE, TWO]


@pytest.mark.parametrize("content", [ONE, b"From bob\n" + ONE, b"\n\n" + ONE])
def test_one_message_is_itself(tmp_path, content):
    (tmp_path / "a.eml").write_bytes(content)
    assert list(read_mailbox(tmp_path / "a.eml")) == [content]


def test_a_compressed_mailbox_is_read(tmp_path):
    box = tmp_path / "box.gz"
    box.write_bytes(gzip.compress(FROM + ONE + b"\n" + FROM + TWO))
    assert list(read_mailbox(box)) == [ONE, TWO]


@pytest.mark.parametrize("cut", [3, 20, -3])
def test_a_damaged_compressed_mailbox_is_refused(tmp_path, cut):
    box = tmp_path / "box.gz"
    box.write_bytes(gzip.compress(FROM + ONE)[:cut])
    with pytest.raises(BadFile, match="damaged"):
        list(read_mailbox(box))


@pytest.mark.parametrize(
    ("given_bytes", "messages"),
    [
        (FROM + ONE + b"\n" + FROM + TWO, [ONE, TWO]),
        (ONE, [ONE]),
        (b"\x00rubbish", None),
        (b"", []),
    ],
)
def test_the_standard_input_is_an_mbox_or_one_message(monkeypatch, given_bytes, messages):
    class Standard:
        buffer = io.BufferedReader(io.BytesIO(given_bytes))

    monkeypatch.setattr(sys, "stdin", Standard)
    assert list(read_mailbox("-")) == ([given_bytes] if messages is None else messages)


def test_a_pipe_may_bring_its_bytes_one_by_one(monkeypatch):
    class Slow(io.RawIOBase):
        def __init__(self) -> None:
            self.left = deque(FROM + ONE + b"\n" + FROM + TWO)

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            if not self.left:
                return 0
            buffer[0] = self.left.popleft()
            return 1

    class Standard:
        buffer = io.BufferedReader(Slow())

    monkeypatch.setattr(sys, "stdin", Standard)
    assert list(read_mailbox("-")) == [ONE, TWO]


def test_a_long_compressed_mailbox_is_read_to_its_end(tmp_path):
    box = tmp_path / "box.gz"
    box.write_bytes(gzip.compress((FROM + ONE + b"\n") * 100_000))
    assert sum(1 for _ in read_mailbox(box)) == 100_000


def test_an_empty_file_holds_no_messages(tmp_path):
    (tmp_path / "box").write_bytes(b"")
    assert list(read_mailbox(tmp_path / "box")) == []


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadFile, match="nowhere cannot be read: No such file") as refusal:
        list(read_mailbox(tmp_path / "nowhere"))
    assert "Maildir" in refusal.value.hint


def test_what_may_not_be_read_is_refused(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("everything may be read by root")
    place = tmp_path / "box"
    place.write_bytes(ONE)
    place.chmod(0)
    with pytest.raises(BadFile, match="Permission denied"):
        list(read_mailbox(place))


def test_a_folder_without_mail_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"not a Maildir .* is empty"):
        list(read_mailbox(tmp_path))
    (tmp_path / "notes.txt").write_bytes(b"Dear diary\n")
    with pytest.raises(BadFile, match=r"not a Maildir .* holds no messages"):
        list(read_mailbox(tmp_path))


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n", b"Dear Bob,\n\nno header.\n", b"\0\0\0"])
def test_a_file_that_is_no_mail_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(BadFile, match="neither an mbox nor a message"):
        list(read_mailbox(tmp_path / "a"))
    assert not is_mbox(content)
    assert not is_message(content)


def test_a_folder_of_other_things_is_no_mailbox(tmp_path):
    (tmp_path / "message").write_bytes(b"From: a\n\nHello\n")
    (tmp_path / "notes.txt").write_bytes(b"Dear diary,\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n")
    with pytest.raises(BadFile, match="only 1 of its 3 files hold messages"):
        list(read_mailbox(tmp_path))
    (tmp_path / "picture.png").write_bytes(b"Subject: b\n\nAt one\n")
    assert len(list(read_mailbox(tmp_path))) == 2
