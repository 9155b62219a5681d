"""Nothing that arrives makes reading fail, and what it costs is bounded."""

import random
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.mail import limits as mail_limits
from suffice.mail.charsets import codec_of, decoded, from_base64, plain
from suffice.mail.html_text import host_marks, html_text
from suffice.mail.words import Message, mail_terms, message_text, read_message
from tests.text.hostile_mail import HOSTILE, INJECTED, MULTIPART, TEMPLATE, mutated

LONGEST = 5_000_000
"""Characters that become of a message at most: its text, and words of its header with prefixes."""

MEMORY = 80
"""How many times its size a message may take: a letter may be a word, and get a prefix."""

PAGE = ["<", ">", "!", "-", "/", "a", "=", "'", '"', "&#", ";", "script", "p", "href", "é", "x.y"]

pieces = st.lists(
    st.one_of(st.sampled_from([*INJECTED, b"\n", b"--b\n", MULTIPART]), st.binary(max_size=40)),
    max_size=30,
).map(b"".join)
damaged = st.builds(lambda seed: mutated(TEMPLATE, TEMPLATE, random.Random(seed)), st.integers())


def check(raw: bytes) -> Message:
    message = read_message(raw)
    whole = [message.subject, message.text, *message.marks]
    for name, value in message.headers:
        whole += name, value
        assert not re.search(r"[\n\r]", name + value)
    "".join(whole).encode("utf-8")  # no halves of characters
    assert len(message.text) <= mail_limits.TEXT_BYTES + 2 * mail_limits.PARTS
    assert len(message.marks) <= mail_limits.MARKS
    assert all(re.fullmatch(r"[\w:./'+-]+", mark, re.ASCII) for mark in message.marks)
    text = message_text(raw)
    text.encode("utf-8")
    assert len(text) <= LONGEST
    assert text.endswith(message.text)
    return message


@given(st.binary(max_size=300))
def test_any_bytes_are_read(raw):
    check(raw)


@given(pieces)
def test_any_pieces_of_mail_are_read(raw):
    check(raw)


@given(damaged)
def test_damaged_mail_is_read(raw):
    check(raw)


@given(damaged)
def test_reading_depends_on_the_message_alone(raw):
    assert message_text(raw) == message_text(bytes(bytearray(raw)))
    assert mail_terms(raw) == re.findall(r"[\w'-]+|[$£€!?%*#@]+", message_text(raw).lower())


@given(damaged)
def test_marks_are_one_term_each(raw):
    message, terms = read_message(raw), mail_terms(raw)
    words = [re.sub(r"[:./+]", "_", mark).lower() for mark in message.marks]
    assert set(words) <= set(terms)


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_mail_is_read(what):
    # A search that goes back would take hours here: the size is what makes this a test of time.
    check(HOSTILE[what](1_000_000))


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_mail_takes_memory_in_proportion_to_its_size(what):
    raw = HOSTILE[what](30_000)
    tracemalloc.start()
    try:
        message_text(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= MEMORY * (len(raw) + 10_000)


@pytest.mark.parametrize(
    "raw",
    [
        b"a" * (mail_limits.MESSAGE_BYTES + 1),
        b"Subject: " + b"a" * mail_limits.HEADER_BYTES + b"\n\n",
        b"a: b\n" * (mail_limits.HEADER_FIELDS + 1) + b"\n",
        b"\n" + b"a" * (mail_limits.TEXT_BYTES + 1),
        MULTIPART + b"--b\n\na\n" * (mail_limits.PARTS + 1) + b"--b--\n",
        b"Content-Type: message/rfc822\n\n" * (mail_limits.DEPTH + 1),
        MULTIPART + b"--b\nx: " + b"a" * mail_limits.PART_HEADER_BYTES + b"\n\na\n--b--\n",
        MULTIPART + 2 * (b"--b\n\n" + b"a" * mail_limits.TEXT_BYTES + b"\n") + b"--b--\n",
    ],
    ids=["bytes", "header", "fields", "text", "parts", "depth", "part header", "texts"],
)
def test_what_is_cut_says_so(raw):
    assert check(raw).truncated


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: " + b"a" * 1_000 + b"\n\n",
        b"a: b\n" * (mail_limits.HEADER_FIELDS - 1) + b"\n",
        b"\n" + b"a" * mail_limits.TEXT_BYTES,
        MULTIPART + b"--b\n\na\n" * (mail_limits.PARTS - 1) + b"--b--\n",
        b"Content-Type: message/rfc822\n\n" * mail_limits.DEPTH,
    ],
    ids=["header", "fields", "text", "parts", "depth"],
)
def test_what_is_whole_does_not_say_that_it_was_cut(raw):
    assert not check(raw).truncated


@given(st.binary(max_size=60), st.text(max_size=20))
def test_any_bytes_in_any_charset_are_characters(data, charset):
    text, _ = decoded(data, charset)
    assert len(text) <= len(data)
    assert isinstance(codec_of(charset), str)


@given(st.text(max_size=60))
def test_any_value_of_a_header_is_readable(value):
    assert isinstance(plain(value), str)
    assert isinstance(plain(f"=?utf-8?b?{value}?= =?x?Q?{value}?="), str)


@given(st.binary(max_size=60))
def test_any_bytes_are_base64_of_something(data):
    assert len(from_base64(data)) <= len(data)


@given(st.lists(st.sampled_from(PAGE)))
def test_any_page_has_a_text_that_is_not_longer(words):
    page = "".join(words)
    assert len(html_text(page)[0]) <= len(page)


@given(st.text(alphabet="w.:/@a-1 é", max_size=60))
def test_hosts_are_words(text):
    for mark in host_marks("url", text):
        assert re.fullmatch(r"url:[\w.-]*", mark)
