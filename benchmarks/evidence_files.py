"""Model files under attack: mutations, worst cases, and saving that is cut off.

python -m benchmarks.evidence --only files     all of it (about half an hour)
"""

from __future__ import annotations

import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import suffice
from benchmarks.evidence import Figure
from suffice.errors import BadFile, SufficeError
from tests.reference.interrupted_saves import stopped_saves
from tests.reference.model_file_mutations import with_damaged_bytes, with_damaged_content
from tests.reference.saved_models import CASES, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MUTATIONS = 100_000
KILLS = 200
USED = 20
"""One in so many mutated files that are believed is also used: it must not crash."""
COMMAND = "python -m benchmarks.evidence --only files"


def measure() -> Iterator[Figure]:
    """Yield what holds of damaged files and interrupted saving."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        yield from _mutations(Path(folder), "bytes", with_damaged_bytes, MUTATIONS // 4)
        yield from _mutations(Path(folder), "content, checksums right", with_damaged_content,
                              MUTATIONS - MUTATIONS // 4)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        yield _killed(Path(folder))


def _mutations(
    folder: Path, what: str, damage: Callable[[bytes, Any], bytes], times: int
) -> Iterator[Figure]:
    rng = np.random.default_rng(2026)
    files = []
    for name in CASES:
        model, (X, y) = fitted(name, rng, 12)
        model.save(folder / "model")
        files.append(((folder / "model").read_bytes(), X, y))
    refused = believed = crashed = 0
    slowest, before = 0.0, _memory()
    place = folder / "damaged"
    with np.errstate(all="ignore"):
        for i in range(times):
            data, X, y = files[i % len(files)]
            place.write_bytes(damage(data, rng))
            start = time.process_time()
            try:
                found = suffice.load(place)
                believed += 1
            except BadFile:
                refused += 1
                continue
            except Exception:  # noqa: BLE001  this is what must not be
                crashed += 1
                continue
            finally:
                slowest = max(slowest, time.process_time() - start)
            if believed % USED == 0:
                crashed += not _usable(found, X, y)
    grown = _memory() - before
    yield Figure(
        f"{times:,} mutations of the {what} of {len(files)} model files "
        "end in a refusal or a model",
        f"{refused:,} refused, {believed:,} read, {crashed} other errors",
        "0 other errors", crashed == 0, COMMAND,
    )  # fmt: skip
    yield Figure(
        f"reading them takes no memory and no time ({what})",
        f"{grown:.0f} MB more at the peak, slowest {slowest:.2f} s of CPU",
        "at most 100 MB, 2 s", grown <= 100.0 and slowest <= 2.0, COMMAND,
    )  # fmt: skip


def _usable(model: Any, X: Any, y: Any) -> bool:
    """Whether a model that was read answers and learns, or refuses to."""
    try:
        model.predict(X)
        model.partial_fit(X, y)
        model.predict(X)
    except (SufficeError, AttributeError):
        return True
    except Exception:  # noqa: BLE001  this is what must not be
        return False
    return True


def _killed(folder: Path) -> Figure:
    found = list(stopped_saves(folder, KILLS, signal.SIGKILL))
    whole = {(folder / name).read_bytes() for name in ("first", "second")}
    broken = sum(data not in whole for data in found)
    kinds = len(set(found))
    return Figure(
        f"kill -9 during save, {KILLS} times: the old file or the new one is there",
        f"{KILLS - broken} whole, {broken} broken; {kinds} of 2 models met",
        "0 broken", broken == 0, COMMAND,
    )  # fmt: skip


def _memory() -> float:
    """Return the most memory this process has had, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0 if sys.platform != "darwin" else 1024.0**2)
