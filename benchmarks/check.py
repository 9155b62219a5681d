"""`make bench-check`: whether anything has become slower than a commit, or than the table says.

    python -m benchmarks.check --base COMMIT

First the working tree against the commit, checked out elsewhere for as long as this takes: new /
old must not be above 1.03 beyond noise. Then ours against scikit-learn, compared with what
benchmarks/ratios.json says: not above 1.10, for the table is of another day. The exit status is 1
if anything is slower. What is still undecided after the last round is told, and is no failure.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import commits, ratios
from benchmarks.verdicts import DRIFT, LIMIT, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmarks.verdicts import Verdict

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Check out a commit in a folder of its own, and remove it afterwards."""
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / "base"
        _git("worktree", "add", "--detach", "--quiet", str(place), commit)
        try:
            yield place
        finally:
            _git("worktree", "remove", "--force", str(place))


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(
            f"error: git {' '.join(arguments)}: {done.stderr.strip()}\n"
            "Hint: name a commit that is there: make bench-check BASE=COMMIT"
        )
    return done.stdout.strip()


def told(names: Iterable[str], found: Mapping[str, Verdict], notes: Mapping[str, str]) -> list[str]:
    """Print a line for each case, and return the names of those that are slower."""
    for name in names:
        print(f"{name:40} {notes.get(name, '')}{found.get(name, '')}", flush=True)
    return [name for name, one in found.items() if one.decision == "slower"]


def against_commit(commit: str, names: list[str]) -> list[str]:
    """Compare the working tree with a commit."""
    known = _git("rev-parse", "--verify", f"{commit}^{{commit}}")
    print(f"CPU time of the working tree / that of {known[:12]}, with 95 % intervals", flush=True)
    with tree_of(known) as base, tempfile.TemporaryDirectory() as made:
        found, lacking, broken = commits.compared(base, ROOT, names, Path(made), STEPS)
    notes = {name: f"not in the old tree ({said:.60})" for name, said in lacking.items()}
    notes |= {name: f"stopped ({said:.60})" for name, said in broken.items()}
    return [*told(names, found, notes), *broken]


def against_table(path: Path, only: str = "") -> list[str]:
    """Compare ours / scikit-learn with the stored table, if it is about the same circumstances."""
    if not path.exists():
        print("\nratios to scikit-learn are not compared: there is no table")
        print("Hint: `make bench-table` measures it")
        return []
    table = ratios.read(path)
    here, there = ratios.circumstances(), table["circumstances"]
    differing = [key for key in here if here[key] != there.get(key)]
    if differing:
        other = ", ".join(f"{key} {there.get(key)} there and {here[key]} here" for key in differing)
        print(f"\nratios to scikit-learn are not compared: {other}")
        print("Hint: `make bench-table` measures the table again; do so at the old commit first")
        return []
    rows = table["ratios"]
    names = [name for name in rows if only in name]
    if not names:
        return []
    print("\nCPU time, ours / scikit-learn's; and that / the stored one, with 95 % intervals")
    found = ratios.compared(rows, names)
    notes = {
        name: f"{one.measured.interval().mean:.4f} ({rows[name]['ratio']:.4f} on "
        f"{rows[name]['date']}):"
        for name, one in found.items()
    }
    return told(names, found, notes)


def main(arguments: list[str] | None = None) -> int:
    """Compare, tell, and return 1 if anything is slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--base", default="HEAD~1", help="the commit to compare with (HEAD~1)")
    parser.add_argument("--all", action="store_true", help="every case, and not the core only")
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--no-peers", action="store_true", help="leave scikit-learn out")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the tree is removed then too
    with tempfile.TemporaryDirectory() as made:
        names = list(commits.cases(Path(made))) if given.all else list(commits.CORE)
    failed = against_commit(given.base, [name for name in names if given.only in name])
    if not given.no_peers:
        failed += against_table(ratios.TABLE, given.only)
    if failed:
        print(
            f"\nslower by more than {100.0 * (LIMIT - 1.0):.0f} % than the commit, by more than "
            f"{100.0 * (DRIFT - 1.0):.0f} % than the table, or broken: {', '.join(failed)}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
