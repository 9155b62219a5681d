"""`make bench-check`: whether anything has become slower than a commit, or than the table says.

    python -m benchmarks.check --base COMMIT

First the working tree against the commit, checked out elsewhere for as long as this takes: new /
old must not be above 1.03 beyond noise. Then ours against scikit-learn, compared with what
benchmarks/ratios.json says. The exit status is 1 if anything is slower. What is still undecided
after the last round is told, and is no failure.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import commits, ratios
from benchmarks.verdicts import LIMIT, STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


def told(names: Iterable[str], judge: Callable[[str], tuple[str, str]]) -> list[str]:
    """Print a line for each case, and return the names of those that are slower or break."""
    failed = []
    for name in names:
        try:
            decision, line = judge(name)
        except subprocess.CalledProcessError as error:
            last = error.stderr.strip().splitlines()[-1:] or [""]
            decision, line = "broken", f"{name:40} stopped: {last[0]}"
        print(line, flush=True)
        if decision in {"slower", "broken"}:
            failed.append(name)
    return failed


def against_commit(commit: str, names: Iterable[str]) -> list[str]:
    """Compare the working tree with a commit."""
    known = _git("rev-parse", "--verify", f"{commit}^{{commit}}")
    print(f"CPU time of the working tree / that of {known[:12]}, with 95 % intervals")
    with tree_of(known) as base, tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        return told(names, lambda name: commits.judged(base, ROOT, name, folder, STEPS))


def against_table(path: Path, only: str) -> list[str]:
    """Compare ours / scikit-learn with the stored table, if it is about the same circumstances."""
    table = ratios.read(path)
    here, there = ratios.circumstances(), table["circumstances"]
    if here != there:
        other = ", ".join(f"{k} {there.get(k)} there and {here[k]} here" for k in here
                          if here[k] != there.get(k))  # fmt: skip
        print(f"\nratios to scikit-learn are not compared: {other}")
        print("Hint: `make bench-table` measures the table again; do so at the old commit first")
        return []
    print("\nCPU time, ours / scikit-learn's, and that / the stored one with its 95 % interval")
    rows = table["ratios"]
    return told([name for name in rows if only in name],
                lambda name: ratios.judged(name, rows[name]))  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Compare, tell, and return 1 if anything is slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check", description=__doc__)
    parser.add_argument("--base", default="HEAD~1", help="the commit to compare with (HEAD~1)")
    parser.add_argument("--all", action="store_true", help="every case, and not the core only")
    parser.add_argument("--only", default="", help="cases with this in their names")
    parser.add_argument("--no-peers", action="store_true", help="leave scikit-learn out")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        names = list(commits.cases(Path(made))) if given.all else list(commits.CORE)
    failed = against_commit(given.base, [name for name in names if given.only in name])
    if not given.no_peers:
        failed += against_table(ratios.TABLE, given.only)
    if failed:
        print(
            f"\nslower by more than {100.0 * (LIMIT - 1.0):.0f} %, or broken: {', '.join(failed)}"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
