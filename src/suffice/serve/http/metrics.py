"""What a server counts, as Prometheus reads it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds between which answers are counted: Prometheus' own bounds, and two below them."""
METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
"""The media type of Prometheus' text format."""


class ServerMetrics:
    """Counts of requests by route and status, how long they took, and what was learned."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.predicted: Counter[str] = Counter()
        self.learned: Counter[str] = Counter()
        self.forgotten: Counter[str] = Counter()
        self.commits = 0
        self.snapshots = 0

    def took(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests[route, status] += 1
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * (len(BOUNDS) + 1)
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self, models: Iterable[tuple[str, float]]) -> str:
        """Return everything in Prometheus' text format; `models` have names and rows."""
        lines = [
            "# HELP suffice_requests_total Requests that were answered.",
            "# TYPE suffice_requests_total counter",
        ]
        for (route, status), count in sorted(self.requests.items()):
            lines.append(f'suffice_requests_total{{route="{route}",status="{status}"}} {count}')
        lines += [
            "# HELP suffice_request_seconds How long answers took.",
            "# TYPE suffice_request_seconds histogram",
        ]
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += count
                lines.append(
                    f'suffice_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
                )
            lines.append(f'suffice_request_seconds_sum{{route="{route}"}} {self._seconds[route]}')
            lines.append(f'suffice_request_seconds_count{{route="{route}"}} {total}')
        for name, words, counts in (
            ("predicted", "Rows that were predicted.", self.predicted),
            ("learned", "Rows that were learned, and are in the log.", self.learned),
            ("forgotten", "Rows that were forgotten.", self.forgotten),
        ):
            lines += [f"# HELP suffice_{name}_rows_total {words}",
                      f"# TYPE suffice_{name}_rows_total counter"]  # fmt: skip
            for model, count in sorted(counts.items()):
                lines.append(f'suffice_{name}_rows_total{{model="{escaped(model)}"}} {count}')
        for name, words, one in (
            ("commits", "Transactions of the log; each is synced once.", self.commits),
            ("snapshots", "Snapshots that were written.", self.snapshots),
        ):
            lines += [
                f"# HELP suffice_{name}_total {words}",
                f"# TYPE suffice_{name}_total counter",
                f"suffice_{name}_total {one}",
            ]
        lines += ["# HELP suffice_model_rows Rows that a model has learned, by their weight.",
                  "# TYPE suffice_model_rows gauge"]  # fmt: skip
        for model, rows in models:
            lines.append(f'suffice_model_rows{{model="{escaped(model)}"}} {rows:g}')
        return "\n".join(lines) + "\n"


def escaped(name: str) -> str:
    r"""Return a label as Prometheus' format has it.

    >>> print(escaped('a"b'))
    a\"b
    """
    return name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
