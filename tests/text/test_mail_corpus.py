"""All messages of the SpamAssassin corpus, beside the parser of the standard library."""

import email

import pytest

from suffice.mail.charsets import decoded
from suffice.mail.html_text import html_text
from suffice.mail.words import message_texts, read_message
from tests.reference import spamassassin

MESSAGES = 6_047

DIFFERENT = 56
"""Messages whose text is not that of the standard library. Counted by what their parts hold:

45  have tags in a part that is declared as plain text, or not at all; they are stripped here
8   are pages that say their charset only themselves
2   are containers without their boundary: here text, there nothing
1   is base64 of a length that cannot be: decoded here as far as it goes, left as it is there
"""


@pytest.fixture(scope="module")
def corpus(shared, require):
    require(spamassassin.ARCHIVE.exists(), f"no mail to read: {spamassassin.ARCHIVE} is not there")
    return spamassassin.messages()


@pytest.fixture(scope="module")
def read(corpus):
    """Return every message as it is read here, by its name."""
    return {name: read_message(raw) for name, raw in corpus.items()}


def their_text(raw: bytes) -> str:
    """Return the text parts as the standard library finds them, in our charsets."""
    texts = []
    for part in email.message_from_bytes(raw.replace(b"\r\n", b"\n")).walk():
        if part.get_content_maintype() == "text" and not part.is_multipart():
            text, _ = decoded(part.get_payload(decode=True), str(part.get_param("charset") or ""))
            texts.append(html_text(text)[0] if part.get_content_subtype() == "html" else text)
    return "\n".join(texts)


@pytest.mark.slow
def test_every_message_is_read_and_nearly_all_as_the_standard_library_reads_them(corpus, read):
    assert len(corpus) == MESSAGES
    different = 0
    for name, raw in corpus.items():
        message = read[name]
        assert not message.truncated
        assert message.headers
        different += message.text.split() != their_text(raw).split()
    assert different == DIFFERENT


@pytest.mark.slow
def test_subjects_are_those_of_the_standard_library(corpus, read):
    different = 0
    for name, raw in corpus.items():
        theirs = email.message_from_bytes(raw.replace(b"\r\n", b"\n"))["subject"]
        if isinstance(theirs, str) and "=?" not in theirs:
            ours = read[name].subject
            different += ours.split() != theirs.split()
    assert different == 0


@pytest.mark.slow
def test_words_of_every_message_can_be_written(corpus):
    size = sum(len(text.encode("utf-8")) for text in message_texts(corpus.values()))
    assert 0.5 < size / sum(map(len, corpus.values())) < 1.5
