"""Filters in processes of their own: pipes, two writers, crashes, full disks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from suffice.mail.filter.build import write_filter
from suffice.mail.filter.message_identity import letter_of
from suffice.mail.filter.state import MailState
from tests.text.made_mail import mbox, message
from tests.text.mail_crashes import check, crashed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAVY = {"sklearn", "scipy", "numba", "pyarrow", "pandas", "polars", "narwhals", "matplotlib"}


@pytest.fixture
def mail_filter(tmp_path: Path) -> Path:
    """Return a small filter."""
    place = tmp_path / "filter.db"
    kinds = ("ham", "spam")
    write_filter(place, [(message(-i, kinds[i % 2]), i % 2) for i in range(1, 21)])
    return place


def loaded(environment: dict[str, str], *arguments: object) -> set[str]:
    """Return what a command has imported when it ends well."""
    program = (
        "import sys\nfrom suffice.cli import main\ncode = main(sys.argv[1:])\n"
        "print(code, *sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, *names = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return set(names)


def test_classifying_and_correcting_load_numpy_and_little_else(
    environment: dict[str, str], mail_filter: Path, tmp_path: Path
) -> None:
    place = tmp_path / "message.eml"
    place.write_bytes(message(1, "spam"))
    for arguments in (("classify", mail_filter, place), ("correct", mail_filter, place, "--spam")):
        names = loaded(environment, "mail", *arguments)
        assert "numpy" in names
        assert not names & HEAVY


def test_a_message_passes_through_a_pipe_with_its_mark(
    shell: Callable[..., Any], mail_filter: Path
) -> None:
    raw = message(1, "spam").replace(b"\n", b"\r\n")
    done = shell(f"suffice mail classify '{mail_filter}' - --header | od -An -tx1 -v", raw)
    assert done.code == 0
    first, rest = bytes.fromhex(done.out).split(b"\r\n", 1)
    assert first.startswith(b"X-Suffice: spam, probability=0.9")
    assert rest == raw


@pytest.mark.parametrize(
    "raw", [b"", b"\0\xff\r\nno header", message(1, "ham"), b"To: you\r\n\r\n"]
)
def test_no_message_is_lost_where_there_is_no_filter(
    environment: dict[str, str], tmp_path: Path, raw: bytes
) -> None:
    (tmp_path / "broken.db").write_bytes(b"SQLite format 3\0 broken")
    for name, code in (("nowhere.db", 1), ("broken.db", 1)):
        command = [sys.executable, "-m", "suffice.cli", "mail", "classify", name, "-", "--header"]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, input=raw, capture_output=True, check=False
        )
        assert done.returncode == code
        assert done.stdout == raw
        assert done.stderr.count(b"\n") == 2


def test_two_writers_at_once_lose_nothing(
    environment: dict[str, str], mail_filter: Path, tmp_path: Path
) -> None:
    with MailState(mail_filter) as state:
        ham, spam = state.summary.documents
    writers, added = [], {"ham": 25, "spam": 30}
    learned = {("ham", "spam")[i % 2]: [] for i in range(2)}
    for kind, size in added.items():
        box = tmp_path / f"{kind}.mbox"
        learned[kind] = [message(number, kind) for number in range(size)]
        box.write_bytes(mbox(learned[kind]))
        command = [
            sys.executable,
            "-m",
            "suffice.cli",
            "mail",
            "correct",
            mail_filter,
            box,
            f"--{kind}",
        ]
        writers.append(
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        )
    for writer in writers:
        _, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err
    with MailState(mail_filter) as state:
        assert state.summary.documents == (ham + 25, spam + 30)
        before = [(message(-i, ("ham", "spam")[i % 2]), i % 2) for i in range(1, 21)]
        new = [(raw, code) for code, kind in enumerate(learned) for raw in learned[kind]]
        check(state, [*before, *new])


def test_what_was_acknowledged_survives_being_killed(
    environment: dict[str, str], mail_filter: Path
) -> None:
    before = [(message(-i, ("ham", "spam")[i % 2]), i % 2) for i in range(1, 21)]
    found = crashed(mail_filter, before, messages=1_000, kills=20, environment=environment)
    assert found.kills == 20
    assert found.learned <= 1_000
    assert not found.troubles


def test_a_full_disk_leaves_the_filter_as_it_was(
    shell: Callable[..., Any], mail_filter: Path, tmp_path: Path
) -> None:
    big = tmp_path / "big.eml"
    big.write_bytes(b"To: you\n\n" + os.urandom(3000))
    blocks = mail_filter.stat().st_size // 1024
    done = shell(f"ulimit -f {blocks // 4}; suffice mail correct '{mail_filter}' '{big}' --spam")
    assert done.code == 1
    assert "a disk error" in done.err
    assert "what was learned before is still there" in done.err
    with MailState(mail_filter) as state:
        assert state.summary.documents == (10, 10)
        assert not state.learned_as(letter_of(big.read_bytes()))
    box = tmp_path / "box"
    box.write_bytes(mbox([message(number, "ham") for number in range(30)]))
    other = tmp_path / "other.db"
    done = shell(f"ulimit -f 8; suffice mail fit '{box}' '{big}' -o '{other}'")
    assert done.code == 1
    assert str(other) in done.err
    assert not [name for name in tmp_path.iterdir() if "other" in name.name]


def test_a_filter_in_a_folder_that_may_not_be_written_to_still_classifies(
    shell: Callable[..., Any], mail_filter: Path, tmp_path: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    place = tmp_path / "message.eml"
    place.write_bytes(message(1, "spam"))
    mail_filter.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        done = shell(f"suffice mail classify '{mail_filter}' '{place}'")
        assert done.code == 0, done.err
        assert "spam" in done.out
        done = shell(f"suffice mail correct '{mail_filter}' '{place}' --spam")
        assert done.code == 1
        assert "may not be written to" in done.err
    finally:
        tmp_path.chmod(0o755)
