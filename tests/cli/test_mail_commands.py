"""The mail commands: what they print, what they leave, what they refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import suffice
from suffice.cli.mail.classify import marked
from suffice.mail.filter.message_identity import letter_of
from suffice.mail.filter.state import MailState
from suffice.mail.filter.verdicts import judged
from tests.text.made_mail import mbox, message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = 15


@pytest.fixture
def boxes(tmp_path: Path) -> tuple[Path, Path]:
    """Return an mbox of ham and one of spam."""
    places = tmp_path / "ham.mbox", tmp_path / "spam.mbox"
    for place in places:
        place.write_bytes(mbox([message(number, place.stem) for number in range(SIZE)]))
    return places


@pytest.fixture
def mail_filter(run: Callable[..., Any], boxes: tuple[Path, Path], tmp_path: Path) -> Path:
    """Return a filter."""
    place = tmp_path / "filter.db"
    assert run("mail", "fit", *boxes, "-o", place).code == 0
    return place


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    """Return a message that no filter has seen."""
    place = tmp_path / "message.eml"
    place.write_bytes(message(1000, "spam"))
    return place


def documents(place: Path) -> tuple[int, int]:
    with MailState(place) as state:
        return state.summary.documents


def refused(done: Any, *words: str) -> None:
    assert done.code == 1, done
    assert done.err.startswith("error: ")
    assert "\nHint: " in done.err
    assert "Traceback" not in done.err
    assert not done.out
    for word in words:
        assert word in done.err, done.err


def test_a_fit_reads_mail_wherever_it_lies(
    run: Callable[..., Any], boxes: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, maildir = tmp_path / "folder", tmp_path / "maildir"
    folder.mkdir()
    for part in ("cur", "new", "tmp"):
        (maildir / part).mkdir(parents=True)
    for number in range(20, 23):
        (folder / f"{number}.eml").write_bytes(message(number, "ham"))
        (maildir / "cur" / f"{number}:2,S").write_bytes(message(number, "spam"))
    ham, spam = boxes
    done = run("mail", "fit", ham, spam, "--ham", folder, "--spam", maildir, "--spam", spam,
               "-o", tmp_path / "filter.db", "--json")  # fmt: skip
    assert done.code == 0
    assert json.loads(done.out) == {
        "filter": str(tmp_path / "filter.db"), "ham": 18, "spam": 18, "twice": SIZE, "both": 0,
    }  # fmt: skip
    assert f"note: {SIZE} messages are repeated" in done.err
    assert documents(tmp_path / "filter.db") == (18, 18)


def test_a_filter_is_replaced_on_demand_only_and_never_by_half(
    run: Callable[..., Any], mail_filter: Path, boxes: tuple[Path, Path], tmp_path: Path
) -> None:
    before = mail_filter.read_bytes()
    refused(run("mail", "fit", *boxes, "-o", mail_filter), "already exists", "--force")
    bad = tmp_path / "no-mail"
    bad.mkdir()
    (bad / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    refused(run("mail", "fit", boxes[0], bad, "-o", mail_filter, "--force"), "is not a Maildir")
    assert mail_filter.read_bytes() == before
    with MailState(mail_filter) as reader:
        more = ["--spam", tmp_path / "more.eml"]
        (tmp_path / "more.eml").write_bytes(message(77, "spam"))
        assert run("mail", "fit", *boxes, *more, "-o", mail_filter, "--force").code == 0
        assert reader.summary.documents == (SIZE, SIZE + 1)
    assert not [name for name in tmp_path.iterdir() if name.name.startswith(".")]


@pytest.mark.parametrize("way", ["mbox", "link", "message of a folder", "message of a Maildir"])
def test_mail_that_is_read_is_not_replaced_by_its_filter(
    way: str, run: Callable[..., Any], boxes: tuple[Path, Path], tmp_path: Path
) -> None:
    ham, spam = place, _ = boxes
    if way == "link":
        place = tmp_path / "link"
        place.symlink_to(ham)
    elif way != "mbox":
        inside = ham = tmp_path / "mail"
        if way == "message of a Maildir":
            inside = ham / "cur"
            (ham / "new").mkdir(parents=True)
        inside.mkdir()
        place = inside / "1.eml"
        for number in range(SIZE):
            (inside / f"{number}.eml").write_bytes(message(number, "ham"))
    before = place.read_bytes()
    for force in ((), ("--force",)):
        done = run("mail", "fit", ham, spam, *force, "-o", place)
        refused(done, "is an input: it would be replaced by a mail filter")
        assert place.read_bytes() == before
    other = tmp_path / "mail" / "filter.db"
    if way == "message of a folder":  # what is not a message is not read
        assert run("mail", "fit", ham, spam, "-o", other).code == 0
        assert run("mail", "fit", ham, spam, "--force", "-o", other).code == 0


def test_a_filter_is_not_replaced_by_its_export(run: Callable[..., Any], mail_filter: Path) -> None:
    before = mail_filter.read_bytes()
    done = run("mail", "export", mail_filter, "-o", mail_filter, "--force")
    refused(done, "is an input: it would be replaced by a model file")
    assert mail_filter.read_bytes() == before


@pytest.mark.parametrize(
    "options", [("--spam", "--ham"), ("--ham", "--forget"), ("--forget", "--spam", "--ham")]
)
def test_a_message_cannot_be_corrected_in_two_ways(
    options: tuple[str, ...], run: Callable[..., Any], mail_filter: Path, letter: Path
) -> None:
    before = mail_filter.read_bytes()
    done = run("mail", "correct", mail_filter, letter, *options)
    assert done.code == 2
    assert not done.out
    assert all(option in done.err for option in options)
    assert "contradict each other" in done.err
    assert mail_filter.read_bytes() == before


@pytest.mark.parametrize("arguments", [(), ("ham.mbox",), ("a", "b", "c"), ("--ham", "a")])
def test_a_fit_needs_both_kinds(run: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    assert run("mail", "fit", *arguments, "-o", "filter.db").code == 2


def test_a_message_is_classified_with_reasons(
    run: Callable[..., Any], mail_filter: Path, letter: Path
) -> None:
    done = run("mail", "classify", mail_filter, letter)
    assert done.code == 0
    first, *rest = done.rows
    assert first.startswith(f"{letter}: spam, probability 0.9")
    assert rest[0].startswith("  for spam  ")
    assert rest[-1].startswith("  in sum    terms +")
    answer = json.loads(run("mail", "classify", mail_filter, letter, "--json").out)
    with MailState(mail_filter) as state:
        assert answer["probability"] == judged(state, letter_of(letter.read_bytes())).probability
    parts = [answer[name] for name in ("terms", "bytes", "prior", "calibration")]
    assert answer["log_odds"] == pytest.approx(sum(parts))


def test_every_message_of_a_mailbox_is_classified(
    run: Callable[..., Any], mail_filter: Path, boxes: tuple[Path, Path]
) -> None:
    done = run("mail", "classify", mail_filter, *boxes, "--json")
    answers = [json.loads(row) for row in done.rows]
    assert [answer["message"] for answer in answers] == [
        f"{box}:{number}" for box in boxes for number in range(1, SIZE + 1)
    ]
    assert {a["verdict"] for a in answers if "ham.mbox" in a["message"]} <= {"ham", "unsure"}


def test_many_messages_are_judged_as_each_is(
    run: Callable[..., Any],
    mail_filter: Path,
    boxes: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_by_one = run("mail", "classify", mail_filter, boxes[0], "--json").out
    monkeypatch.setattr("suffice.cli.mail.classify.MANY", 2)
    assert run("mail", "classify", mail_filter, boxes[0], "--json").out == one_by_one
    assert len(one_by_one.splitlines()) > 2


def test_exit_codes_say_the_verdict_where_they_are_asked_to(
    run: Callable[..., Any], mail_filter: Path, letter: Path, tmp_path: Path
) -> None:
    ham = tmp_path / "ham.eml"
    ham.write_bytes(message(1001, "ham"))
    ask = ("mail", "classify", mail_filter)
    assert run(*ask, letter, "--exit-code").code == 0
    assert run(*ask, ham, "--exit-code").code == 1
    assert run(*ask, ham, "--exit-code", "--unsure", "0", "1").code == 2
    assert run(*ask, tmp_path / "nothing", "--exit-code").code == 3
    assert run(*ask, ham).code == 0
    assert run(*ask, ham, letter, "--exit-code").code == 2  # wrong usage
    assert run(*ask, ham, "--unsure", "0.9", "0.1").code == 2
    refused(run(*ask, tmp_path / "nothing"), "nothing")


def test_corrections_are_learned_moved_and_forgotten(
    run: Callable[..., Any], mail_filter: Path, letter: Path
) -> None:
    correct = ("mail", "correct", mail_filter, letter)
    assert run(*correct, "--spam").out == f"{letter}: learned as spam\n"
    assert documents(mail_filter) == (SIZE, SIZE + 1)
    refused(run(*correct, "--spam"), "learned as spam before")
    assert run(*correct, "--ham").out == f"{letter}: moved to ham\n"
    assert documents(mail_filter) == (SIZE + 1, SIZE)
    assert run(*correct, "--forget").out == f"{letter}: forgotten as ham\n"
    refused(run(*correct, "--forget"), "never learned")
    assert documents(mail_filter) == (SIZE, SIZE)
    assert run(*correct).code == 2
    assert run(*correct, "--forget", "--policy", "errors").code == 2


def test_policies_learn_what_is_misjudged_or_nearly(
    run: Callable[..., Any], mail_filter: Path, letter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    correct = ("mail", "correct", mail_filter, letter)
    done = run(*correct, "--spam", "--policy", "errors")
    assert done.out == f"{letter}: already classified as spam, so not learned\n"
    monkeypatch.setattr("suffice.cli.mail.correct.MARGIN", 0.0)
    assert "not learned" in run(*correct, "--spam", "--policy", "near-errors").out
    monkeypatch.setattr("suffice.cli.mail.correct.MARGIN", 1e9)
    assert "learned as spam" in run(*correct, "--spam", "--policy", "near-errors").out
    run(*correct, "--forget")
    assert "learned as ham" in run(*correct, "--ham", "--policy", "errors").out


def test_many_corrections_calibrate_the_filter_anew(
    run: Callable[..., Any], mail_filter: Path, letter: Path, tmp_path: Path
) -> None:
    done = run("mail", "correct", mail_filter, letter, "--spam")
    assert "calibrated" not in done.err
    assert (
        "recalibrated"
        in run("mail", "correct", mail_filter, letter, "--forget", "--recalibrate").err
    )
    more = tmp_path / "more.mbox"
    more.write_bytes(mbox([message(number, "spam") for number in range(SIZE - 2, SIZE + 2)]))
    done = run("mail", "correct", mail_filter, more, "--spam", "--json")
    assert done.code == 1  # two of them are known
    assert [json.loads(row)["done"] for row in done.rows] == ["learned as spam"] * 2
    assert done.err.count("learned as spam before") == 2
    assert "recalibrated" in done.err


def test_a_filter_becomes_a_model_file_and_is_loaded_as_one(
    run: Callable[..., Any], mail_filter: Path, tmp_path: Path
) -> None:
    place = tmp_path / "mail.suffice"
    assert run("mail", "export", mail_filter, "-o", place).code == 0
    texts = ["cheap pills", "lunch with bob"]
    models = [suffice.load(place), suffice.load(mail_filter)]
    assert models[0].predict(texts).tolist() == ["spam", "ham"]
    assert (models[0].predict_proba(texts) == models[1].predict_proba(texts)).all()


def test_filters_are_inspected_and_merged_like_models(
    run: Callable[..., Any], mail_filter: Path, letter: Path, tmp_path: Path,
    measurements: Path, fitted: Callable[..., Path],
) -> None:  # fmt: skip
    assert f"learned {SIZE} ham and {SIZE} spam" in run("inspect", mail_filter).out
    assert json.loads(run("inspect", mail_filter, "--json").out)["documents"]["ham"] == SIZE
    other, both = tmp_path / "other.db", tmp_path / "both.db"
    other.write_bytes(mail_filter.read_bytes())
    run("mail", "correct", other, letter, "--spam")
    done = run("merge", mail_filter, other, "-o", both)
    assert done.code == 0
    assert f"{2 * SIZE} messages were learned by more than one" in done.err
    assert documents(both) == (2 * SIZE, 2 * SIZE + 1)
    assert run("merge", both, mail_filter, "-o", both).code == 0
    assert documents(both) == (3 * SIZE, 3 * SIZE + 1)
    model = fitted(measurements, "class", "gda")
    refused(run("merge", mail_filter, model, "-o", both), "is a mail filter", "is not")
    refused(run("merge", model, mail_filter, "-o", both), "is a mail filter", "is not")


BAD = {
    "nothing": None,
    "empty": b"",
    "text": b"this is no database",
    "a database of nobody": b"SQLite format 3\0" + b"\0" * 100,
    "cut off": b"SQLite format 3\0",
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["classify", "correct", "export"])
def test_what_is_no_filter_is_refused_in_a_line(
    run: Callable[..., Any], letter: Path, tmp_path: Path, name: str, command: str
) -> None:
    place, content = tmp_path / "bad.db", BAD[name]
    if content is not None:
        place.write_bytes(content)
    more = {"classify": [letter], "correct": [letter, "--ham"], "export": ["-o", tmp_path / "x"]}
    refused(run("mail", command, place, *more[command]), "bad.db")
    assert not (tmp_path / "x").exists()
    assert (place.read_bytes() if place.exists() else None) == content


HEADERS = st.lists(
    st.sampled_from(
        [b"To: you", b"X-Suffice: ham, probability=0.1", b"x-suffice : old\n\tfolded",
         b"Subject: a\n b", b"X-Sufficed: no", b"rubbish", b"X-Mail: \xff\0"]
    ),
    max_size=6,
)  # fmt: skip


@given(HEADERS, st.binary(max_size=40), st.booleans(), st.booleans())
def test_a_mark_is_one_field_more_and_every_other_byte_as_it_was(
    headers: list[bytes], body: bytes, envelope: bool, crlf: bool
) -> None:
    def message_of(fields: list[bytes]) -> bytes:
        head = b"".join(field + b"\n" for field in fields)
        head = head.replace(b"\n", b"\r\n") if crlf else head
        line = b"From bob Thu Aug 22 12:36:23 2002" + end if envelope else b""
        return line + head + end + body

    end = b"\r\n" if crlf else b"\n"
    kept = [
        field for field in headers if not field.lower().startswith((b"x-suffice:", b"x-suffice :"))
    ]
    found = marked(message_of(headers), "spam", 0.99831)
    assert found == message_of([b"X-Suffice: spam, probability=0.998", *kept])


@given(st.binary(max_size=80))
def test_any_bytes_can_be_marked(raw: bytes) -> None:
    once = marked(raw, "ham", 0.0)
    assert marked(once, "ham", 0.0) == once
