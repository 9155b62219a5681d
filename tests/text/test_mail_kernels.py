"""The compiled loops for mail say what their twins in Python say."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.kernels.compilation import part_of
from suffice.kernels.mail.header_words import Rules, header_words
from suffice.kernels.mail.html import page_text
from suffice.mail.headers import RULES
from suffice.mail.words import message_text
from tests.text.hostile_mail import HOSTILE, TEMPLATE, mutated
from tests.twins import choices

pytest.importorskip("numba", reason="the compiled loops need numba")

MUCH = 10**9

tags = st.lists(
    st.sampled_from(
        [b"<", b">", b"<!--", b"-->", b"<script", b"</script", b"<STYLE>", b"</Style>", b"<a hrEf=",
         b'"', b"'", b"=", b" ", b"a-b", b"color=Red", b"\xe9", b"<p", b"</", b"<!doctype ",
         b"size", b"-", b"_", b"x", b"\n", b"<blockquote>", b"/", b"?", b"0",
         b"<font face= x color=#f>"]
    ),
    max_size=25,
).map(b"".join)  # fmt: skip
lines = st.lists(
    st.sampled_from(
        [b"\n", b"\n ", b"\n\t", b":", b": ", b"to", b"To: ", b"\nX-Spam-f: ", b"received", b"a.b",
         b"(x@y)", b"\xc3\xa9", b"\x00", b"\r", b"a" * 25, b"a" * 49, b"\x1f", b" ", b"\x0b",
         b"\xc2\x85", b"\n\n", b"status", b"Subject:", b"\x7f"]
    ),
    max_size=20,
).map(b"".join)  # fmt: skip


@given(tags)
def test_pages_are_read_alike(page):
    with part_of(MUCH):
        found = page_text(page)
    assert found == page_text(page)


@given(lines, st.sampled_from(sorted(RULES)))
def test_headers_are_read_alike(head, headers):
    with part_of(MUCH):
        found = header_words(head, RULES[headers])
    assert found == header_words(head, RULES[headers])


@given(st.integers())
def test_messages_are_read_alike(seed):
    raw = mutated(TEMPLATE, TEMPLATE, random.Random(seed))
    with part_of(MUCH):
        found = message_text(raw)
    assert found == message_text(raw)


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_messages_are_read_alike(what):
    raw = HOSTILE[what](300_000)
    with part_of(MUCH):
        found = message_text(raw)
    assert found == message_text(raw)


def test_no_more_facts_are_kept_than_asked_for():
    page = b"".join(b"<a%d href=x%d>" % (i, i) for i in range(50))
    for most in (0, 1, 2, 7):
        text, facts = page_text.plain(page, most)
        assert facts.count(b"\n") == most
        assert page_text.compiled(page, most) == page_text(page, most=most) == (text, facts)


def test_one_message_alone_does_not_wait_for_a_compiler(monkeypatch):
    from suffice.kernels.mail import header_words_numba, html_numba

    chosen = choices(
        monkeypatch, {header_words_numba: ("header_words",), html_numba: ("page_text",)}
    )
    calls = (
        lambda: header_words(b"a: b\n" * 250_000, Rules()),
        lambda: page_text(b"<p>a" * 300_000),
    )
    assert chosen(*calls) == [None, None]
    with part_of(MUCH):
        assert chosen(*calls) == [header_words_numba, html_numba]
