"""`suffice mail classify`: spam, ham or unsure, with the reasons."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from suffice.cli.mail.options import filter_argument, messages_argument, named_messages
from suffice.cli.terminal.options import json_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from suffice.mail.filter.message_identity import Letter
    from suffice.mail.filter.verdicts import JudgedMessage


SPAM, HAM, UNSURE = "spam", "ham", "unsure"
CODES = {SPAM: 0, HAM: 1, UNSURE: 2}
"""Exit codes of answers with --exit-code; they are those of bogofilter."""
FAILED = 3
"""The exit code of a refusal then, which is bogofilter's too."""
MANY = 50
"""Messages after which all counts are read into memory, rather than those of each message."""
AT_ONCE, CHARACTERS = 64, 1 << 22
"""Messages, and characters of them, that are judged together: what they share is looked up once."""
REASONS = 6
"""Terms shown for each side."""


@click.command()
@filter_argument()
@messages_argument()
@click.option(
    "--unsure", type=(click.FloatRange(0.0, 1.0), click.FloatRange(0.0, 1.0)), default=(0.1, 0.9),
    show_default=True, metavar="LOW HIGH",
    help="Between these probabilities of spam the verdict is unsure.",
)  # fmt: skip
@click.option(
    "--header", is_flag=True,
    help="Print the message itself, with the field X-Suffice at its top. If anything goes wrong, "
    "it is printed unchanged: no mail is lost.",
)  # fmt: skip
@click.option(
    "--exit-code", is_flag=True,
    help="Report the verdict as exit code: 0 spam, 1 ham, 2 unsure, 3 refused.",
)  # fmt: skip
@json_option("a line for each message")
def classify(
    filter_: Path,
    messages: tuple[str, ...],
    unsure: tuple[float, float],
    header: bool,
    exit_code: bool,
    as_json: bool,
) -> None:
    """Classify each MESSAGE with FILTER: spam, ham or unsure.

    A MESSAGE is a file, a mailbox or a folder; - is standard input. The terms with the strongest
    evidence for spam (+) and for ham (-) are shown with what each adds to the log odds, and so
    is the evidence of the bytes. With --exit-code or --header there has to be one message.

    Example: suffice mail classify filter.db message.eml
    """
    if unsure[0] > unsure[1]:
        raise click.BadParameter(f"{unsure[0]:g} is above {unsure[1]:g}", param_hint="--unsure")
    if (header or exit_code) and len(messages) != 1:
        raise click.UsageError("--header and --exit-code take one message")
    if header and as_json:
        raise click.UsageError(
            "--header and --json cannot be used together: --header prints the message itself"
        )
    try:
        if header:
            verdict = _pass_on(filter_, messages[0], unsure)
        else:
            verdict = _answer(filter_, messages, unsure, single=exit_code, as_json=as_json)
    except Exception as error:
        if not exit_code:
            raise
        from suffice.cli.terminal.messages import refuse, sentence

        problem, hint = sentence(error)
        refuse(problem, hint)
        raise click.exceptions.Exit(FAILED) from None
    if exit_code:
        sys.stdout.flush()
        raise click.exceptions.Exit(CODES[verdict])


def _answer(
    place: Path, messages: tuple[str, ...], unsure: tuple[float, float], *, single: bool,
    as_json: bool,
) -> str:  # fmt: skip
    """Print what is thought of each message; return the last verdict."""
    from suffice.errors import BadRows
    from suffice.mail.filter.database import refusals
    from suffice.mail.filter.state import MailState
    from suffice.mail.filter.verdicts import judged_together

    found = held = None
    done = 0
    with MailState(place) as state:
        for names, letters in _batches(messages, single=single):
            if held is None and done >= MANY:
                held = state.in_memory()
            if held is not None:
                judgements = judged_together(held, letters)
            else:
                with refusals(place), state.at_once():
                    judgements = judged_together(state, letters)
            done += len(letters)
            for name, letter, judgement in zip(names, letters, judgements, strict=True):
                found = _verdict(judgement.probability, unsure)
                _show(name, found, judgement, letter, as_json=as_json)
    if found is None:
        raise BadRows(f"there is no message in {' '.join(messages)}", hint="- is standard input")
    return found


def _batches(
    messages: tuple[str, ...], *, single: bool
) -> Iterator[tuple[list[str], list[Letter]]]:
    """Yield letters with their names: the first by itself, so that it is answered at once.

    What was read before something was refused is answered as well.
    """
    from suffice.errors import BadRows
    from suffice.mail.filter.message_identity import letter_of

    names: list[str] = []
    letters: list[Letter] = []
    most, size = 1, 0
    try:
        for name, raw in named_messages(messages):
            if single and most > 1:
                raise BadRows(f"{messages[0]} holds several messages", hint="give it one")
            names.append(name)
            letters.append(letter_of(raw))
            size += len(letters[-1].text)
            if len(letters) == most or size > CHARACTERS:
                yield names, letters
                names, letters, most, size = [], [], AT_ONCE, 0
    except Exception:
        if letters:
            yield names, letters
        raise
    if letters:
        yield names, letters


def _pass_on(place: Path, message: str, unsure: tuple[float, float]) -> str:
    """Print a message with its verdict on it, or as it is if there is none."""
    raw = _whole(message)
    try:
        from suffice.mail.filter.database import refusals
        from suffice.mail.filter.message_identity import letter_of
        from suffice.mail.filter.state import MailState
        from suffice.mail.filter.verdicts import judged

        with MailState(place) as state, refusals(place), state.at_once():
            probability = judged(state, letter_of(raw)).probability
        verdict = _verdict(probability, unsure)
        out = marked(raw, verdict, probability)
    except BaseException:
        _write(raw)  # whatever it is, the message goes on
        raise
    _write(out)
    return verdict


def _whole(message: str) -> bytes:
    """Return all bytes of a message."""
    from pathlib import Path

    return sys.stdin.buffer.read() if message == "-" else Path(message).read_bytes()


def _write(raw: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def _verdict(probability: float, unsure: tuple[float, float]) -> str:
    low, high = unsure
    if probability > high:
        return SPAM
    return HAM if probability < low else UNSURE


def _show(
    name: str, verdict: str, judgement: JudgedMessage, letter: Letter, *, as_json: bool
) -> None:
    from suffice.cli.terminal.messages import say

    spam, ham = judgement.reasons(letter, REASONS)
    rest = {"bytes": judgement.bytes, "prior": judgement.prior, "calibration": judgement.shift}
    if as_json:
        from suffice.cli.terminal.printed_rows import print_line

        content = {
            "message": name, "verdict": verdict, "probability": judgement.probability,
            "log_odds": judgement.log_odds, "terms": float(judgement.weights.sum()), **rest,
            "for_spam": spam, "for_ham": ham,
        }  # fmt: skip
        print_line(content)
        return
    say(f"{name}: {verdict}, probability {judgement.probability:.3f}")
    for what, some in (("for spam", spam), ("for ham", ham)):
        if some:
            say(f"  {what:9} {', '.join(f'{_plain(term)} {w:+.2f}' for term, w in some)}")
    said = [("terms", float(judgement.weights.sum())), *rest.items()]
    say(f"  {'in sum':9} {', '.join(f'{what} {weight:+.2f}' for what, weight in said)}")


def _plain(term: str) -> str:
    """Return a term that a terminal can show: mail is written by strangers."""
    shown = "".join(c if c.isprintable() else "?" for c in term)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


FIELD = "X-Suffice"
"""The field that `--header` adds to a message, for rules of mail programs to look for."""
_OLD = re.compile(
    rb"^x-suffice[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE
)
"""The same field with the lines that go on with it: what an earlier run, or a spammer, has put
there."""
_END = re.compile(rb"^\r?\n", re.MULTILINE)
"""The empty line that ends a header."""


def marked(raw: bytes, verdict: str, probability: float) -> bytes:
    r"""Return a message with the field X-Suffice at its top, in place of any that it has.

    The line in which an mbox has its envelope stays the first. Lines end as the first one does.

    >>> marked(b"From bob 12:36 2002\r\nTo: you\r\nx-suffice: ham\r\n\r\nHi\r\n", "spam", .998)
    b'From bob 12:36 2002\r\nX-Suffice: spam, probability=0.998\r\nTo: you\r\n\r\nHi\r\n'
    """
    first = raw.find(b"\n")
    ending = b"\r\n" if first > 0 and raw[first - 1 : first] == b"\r" else b"\n"
    top = first + 1 if raw.startswith((b"From ", b">From ")) and first >= 0 else 0
    blank = _END.search(raw, top)
    end = blank.start() if blank else len(raw)
    field = f"{FIELD}: {verdict}, probability={probability:.3f}".encode("ascii")
    rest = _OLD.sub(b"", raw[top:end]) + raw[end:]
    if rest.startswith((b" ", b"\t")):
        field += ending  # no header, but what would be taken for the rest of this one
    return raw[:top] + field + ending + rest
