"""`suffice mail correct`: a filter learns what a message was, or takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from suffice.cli.mail.options import filter_argument, messages_argument, named_messages
from suffice.cli.terminal.options import json_option, wait_option

if TYPE_CHECKING:
    from pathlib import Path

    from suffice.mail.filter.message_identity import Letter
    from suffice.mail.filter.state import MailState

POLICIES = ("all", "errors", "near-errors")
"""When a message is learned from: always, where the verdict was wrong, or also where it was
near."""
MARGIN = 3.0
"""What is near: the log odds of the terms over the root of their number, below this."""
FORGET = "forget"


@click.command()
@filter_argument()
@messages_argument()
@click.option("--spam", is_flag=True, help="It is spam.")
@click.option("--ham", is_flag=True, help="It is ham.")
@click.option("--forget", is_flag=True, help="Forget the message.")
@click.option(
    "--policy", type=click.Choice(POLICIES), default="all", show_default=True,
    help="Which messages to learn: all; only misclassified ones; or also near misses.",
)  # fmt: skip
@click.option(
    "--recalibrate", is_flag=True,
    help="Recalibrate the probabilities now. Otherwise that happens after every change of one "
    "message in twenty.",
)  # fmt: skip
@wait_option()
@json_option("a line for each message")
def correct(
    filter_: Path,
    messages: tuple[str, ...],
    spam: bool,
    ham: bool,
    forget: bool,
    policy: str,
    recalibrate: bool,
    wait: float,
    as_json: bool,
) -> None:
    """Tell FILTER what each MESSAGE is, or make it forget the message.

    Exact: a filter that forgets a message is the one that never saw it. A message that was learned
    as the other is moved; one that was learned as the same is not learned twice, and one that was
    never learned cannot be forgotten. Each message is on the disk when its line is printed.

    Example: suffice mail correct filter.db message.eml --spam
    """
    from functools import cache

    from suffice.cli.terminal.messages import refuse
    from suffice.cli.terminal.outputs import tell_waiting
    from suffice.errors import BadLabels, BadRows, ForgettingUnseen
    from suffice.mail.filter.message_identity import letter_of
    from suffice.mail.filter.state import MailState

    what = _asked(spam=spam, ham=ham, forget=forget)
    if what == FORGET and policy != "all":
        raise click.UsageError("--policy is for what is learned")
    several, done, last = False, 0, None
    told = cache(lambda: tell_waiting(filter_, wait))  # once, however many messages there are
    with MailState(filter_, write=True, wait=wait, waiting=told) as state:
        for name, raw in named_messages(messages):
            if last is not None:
                several = True
                refuse(last.problem)
                last = None
            try:
                result = _corrected(state, letter_of(raw), what, policy)
            except (BadLabels, ForgettingUnseen) as error:
                last = error.within(name)
                continue
            done += 1
            _report(name, result, as_json=as_json)
        if not done and last is None and not several:
            raise BadRows(
                f"there is no message in {' '.join(messages)}", hint="- is standard input"
            )
        _calibrate(state, asked=recalibrate)
    if last is not None:
        raise last
    if several:
        raise click.exceptions.Exit(1)


def _asked(**given: bool) -> str:
    """Return which one of the options that say what a message is was given."""
    asked = [name for name, is_given in given.items() if is_given]
    if not asked:
        raise click.UsageError("use one of --spam, --ham and --forget")
    if len(asked) > 1:
        several = " and ".join(f"--{name}" for name in asked)
        raise click.UsageError(f"{several} contradict each other: give one of them")
    return asked[0]


def _corrected(state: MailState, letter: Letter, what: str, policy: str) -> str:
    """Change the filter by one letter; return what was done."""
    if what == FORGET:
        return f"forgotten as {state.forget(letter)}"
    from suffice.mail.filter.summary import LABELS

    code = LABELS.index(what)
    done = state.learn(letter, code, lambda: _wanted(state, letter, code, policy))
    if done == "skipped":
        return f"already classified as {what}, so not learned"
    return f"{done} as {what}" if done == "learned" else f"moved to {what}"


def _wanted(state: MailState, letter: Letter, code: int, policy: str) -> bool:
    """Return whether a policy asks for a letter to be learned."""
    if policy == "all" or state.summary.missing is not None:
        return True  # before both are known, every judgement is a guess
    from suffice.mail.filter.verdicts import judged

    found = judged(state, letter)
    near = policy == "near-errors" and abs(found.margin) < MARGIN
    return near or found.code != code


def _report(name: str, result: str, *, as_json: bool) -> None:
    import sys

    from suffice.cli.terminal.messages import say
    from suffice.cli.terminal.printed_rows import print_line

    if as_json:
        print_line({"message": name, "done": result})
    else:
        say(f"{name}: {result}")
    sys.stdout.flush()


def _calibrate(state: MailState, *, asked: bool) -> None:
    summary = state.summary
    if summary.missing is not None or not (asked or summary.is_stale):
        return
    from suffice.cli.terminal.messages import note
    from suffice.mail.filter.calibration import calibrate

    calibrate(state)
    note(f"recalibrated on {sum(summary.documents):,} messages")
