"""What it costs to import us, in CPU time of a fresh interpreter."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys


def cpu_seconds(statement: str) -> float:
    """Return the CPU time of one interpreter that runs a statement."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def row() -> list[str]:
    """Return the import row of the table: the core against scikit-learn's module."""
    ours, core, theirs = [], [], []
    for _ in range(5):
        ours.append(cpu_seconds("import suffice"))
        core.append(cpu_seconds("from suffice import statistics, families, models"))
        theirs.append(cpu_seconds("import sklearn.discriminant_analysis"))
    own, with_core, peer = (statistics.median(times) for times in (ours, core, theirs))
    ratio = peer / own
    verdict = "met" if ratio >= 8.0 else "short"
    return [
        "import suffice, CPU",
        f"{own * 1e3:.0f} ms",
        f"sklearn.discriminant_analysis {peer * 1e3:.0f} ms",
        "-",
        f"{ratio:.3g}x (goal 8x: {verdict})",
        "-",
        f"with statistics, families and models: {with_core * 1e3:.0f} ms, {peer / with_core:.2g}x",
    ]
