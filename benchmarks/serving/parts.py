"""What is measured of a server: each part yields lines of the table."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.serving.load import CONNECTIONS, Bench, Skipped, cpu_of, memory_of, needed, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.serve.processes import ServerProcess

SYNC = 0.005
"""Seconds that are added to every sync where a slow disk is tried."""
IDLE = 10_000
"""Connections that are open, and say nothing."""
BIG = 1_000_000
"""Rows of the one request during which health is asked."""
SLOW_DISK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static int synced(const char *name, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    usleep(atoi(getenv("SYNC_TAKES")));
    return real(fd);
}
int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
"""
"""Loaded before the server: each sync takes some microseconds longer."""


class Line(NamedTuple):
    """A row of the table: what was measured, what came of it, and the goal, if there is one."""

    what: str
    figure: str
    goal: str = ""
    reached: bool | None = None


def peak(bench: Bench) -> Iterator[Line]:
    """Single rows, as many as there is time for."""
    for kind in bench.models:
        with bench.server(kind) as server:
            bench.load(server, kind, "predict", 2)
            found = bench.load(server, kind, "predict", bench.seconds)
        per_cpu = found.requests / found.cpu
        yield Line(f"{kind}: single rows predicted a second of the server's CPU", f"{per_cpu:,.0f}")
        yield Line(f"{kind}: a second, {CONNECTIONS} connections", f"{found.rate:,.0f}")


def latency(bench: Bench) -> Iterator[Line]:
    """How long an answer takes at half of the peak: random pauses (wrk), a fixed rate (hey)."""
    for kind in bench.models:
        with bench.server(kind) as server:
            most = bench.load(server, kind, "predict", 5)
            half = most.rate / 2
            pause = 1e3 * CONNECTIONS / half - most.p50 / 4  # less what an answer takes by then
            found = bench.load(server, kind, "predict", bench.seconds, pause)
            yield Line(
                f"{kind}: p99 at {found.rate:,.0f} a second (wrk; peak {most.rate:,.0f}), "
                "ms; middle, most",
                f"{found.p99:.1f}; {found.p50:.1f}, {found.most:.0f}", "p99 < 10", found.p99 < 10.0,
            )  # fmt: skip
            rate, p50, p99 = _hey(bench, server, kind, half)
            yield Line(
                f"{kind}: p99 at {rate:,.0f} a second (hey), ms; middle", f"{p99:.1f}; {p50:.1f}",
                "p99 < 10", p99 < 10.0,
            )  # fmt: skip


def _hey(bench: Bench, server: ServerProcess, kind: str, rate: float) -> tuple[float, float, float]:
    """Return the rate, the median and the 99th percentile in milliseconds."""
    body = bench.folder / "one"
    body.write_text((bench.folder / "predict").read_text().splitlines()[0])
    workers = 8
    url = f"http://127.0.0.1:{server.port}{bench.address(kind, 'predict')}"
    bounds = ["-z", f"{bench.seconds}s", "-c", str(workers), "-q", str(round(rate / workers))]
    asked = ["-m", "POST", "-T", "application/json", "-D", body, url]
    said = subprocess.run(
        [needed("hey"), *bounds, *asked],
        capture_output=True, text=True, check=True, timeout=bench.seconds + 60,
    ).stdout  # fmt: skip
    if re.findall(r"\[(\d+)\]\s+\d+ responses", said) != ["200"]:
        raise RuntimeError(f"some requests were refused: {said}")
    spent = {share: float(found) * 1e3 for share, found in re.findall(r"(\d+)% in ([\d.]+)", said)}
    found = re.search(r"Requests/sec:\s*([\d.]+)", said)
    assert found is not None
    return float(found[1]), spent["50"], spent["99"]


def learning(bench: Bench) -> Iterator[Line]:
    """Rows that are acknowledged a second, in requests of one row each."""
    yield from _learned(bench, "the log on this disk", Path(tempfile.mkdtemp(dir=bench.folder)))


def slow_disk(bench: Bench) -> Iterator[Line]:
    """The same, where each sync takes five milliseconds more."""
    source, shim = bench.folder / "slow.c", bench.folder / "slow.so"
    source.write_text(SLOW_DISK)
    subprocess.run([needed("gcc"), "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"],
                   check=True)  # fmt: skip
    env = {"LD_PRELOAD": str(shim), "SYNC_TAKES": str(round(SYNC * 1e6))}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        yield from _learned(bench, f"the log in memory, {SYNC * 1e3:g} ms a sync", Path(memory),
                            **env)  # fmt: skip
    disk = Path(tempfile.mkdtemp(dir=bench.folder))
    yield from _learned(bench, f"the log on this disk, {SYNC * 1e3:g} ms more a sync", disk, **env)


def _learned(bench: Bench, where: str, place: Path, **env: str) -> Iterator[Line]:
    for kind in bench.models:
        name = bench.models[kind].stem
        with bench.server(kind, "--state", place / name, **env) as server:
            bench.load(server, kind, "learn", 2, IDS="first")
            before, commits = _counted(server, name)
            found = bench.load(server, kind, "learn", bench.seconds, IDS="then")
            after, later = _counted(server, name)
        if after - before < found.requests:
            raise RuntimeError(f"{found.requests} were acknowledged, {after - before} are there")
        syncs = (later - commits) / (after - before)
        yield Line(f"{kind}: rows learned a second, {where}", f"{found.rate:,.0f}", "2,000",
                   found.rate >= 2_000)  # fmt: skip
        yield Line(f"{kind}: commits a row; µs of CPU a row", f"{syncs:.3f}; "
                   f"{1e6 * found.cpu / found.requests:.0f}", "1/8", syncs <= 1 / 8)  # fmt: skip


def _counted(server: ServerProcess, name: str) -> tuple[int, int]:
    """Return how many rows a model has learned, and commits of the server."""
    rows = server.ask("GET", f"/v1/models/{name}")[1]["rows"]
    text = server.ask("GET", "/metrics")[1].decode()
    found = re.search(r"(?m)^suffice_commits_total (\d+)", text)
    assert found is not None
    return int(rows), int(found[1])


def health(bench: Bench) -> Iterator[Line]:
    """How long a health check takes while one request of a million rows is answered."""
    rows, _ = table(10_000, 3)
    for how in ("csv", "json"):
        if how == "csv":
            lines = [",".join("" if cell is None else str(cell) for cell in row.values())
                     for row in rows]  # fmt: skip
            text = "\n".join([",".join(rows[0]), *lines * (BIG // len(rows))]) + "\n"
        else:  # the shortest way to write records, which is still within 64 MB
            short = [[cell if j > 5 or cell is None else round(cell) for j, cell in
                      enumerate(row.values())] for row in rows]  # fmt: skip
            one = json.dumps(short, separators=(",", ":"))[1:-1]
            text = '{"rows":[' + ",".join([one] * (BIG // len(rows))) + "]}"
        media = "text/csv" if how == "csv" else "application/json"
        body = text.encode()
        for kind in bench.models:
            with bench.server(kind) as server:
                waits, took = _while_busy(server, bench.address(kind, "predict"), body, media)
            middle, late = np.percentile(waits, [50, 99])
            yield Line(
                f"{kind}: p99 of {len(waits):,} health checks during 1e6 rows ({how}, {took:.1f} "
                "s), ms; middle, most",
                f"{late:.1f}; {middle:.1f}, {max(waits):.0f}", "p99 < 50", bool(late < 50.0),
            )  # fmt: skip


def _while_busy(
    server: ServerProcess, path: str, body: bytes, media: str
) -> tuple[list[float], float]:
    """Return milliseconds of health checks while a body is answered, and its seconds."""
    sent = [needed("curl"), "-sS", "-o", os.devnull, "-w", "%{http_code}", "--data-binary", "@-",
            "-H", f"Content-Type: {media}", "-H", "Accept: text/csv", "-H", "Expect:",
            f"http://127.0.0.1:{server.port}{path}?probabilities=false"]  # fmt: skip
    client = subprocess.Popen(sent, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    start = time.perf_counter()
    threading.Thread(target=client.communicate, args=(body,), daemon=True).start()
    waits = []
    connection = server.connection()
    while client.poll() is None:
        before = time.perf_counter()
        connection.request("GET", "/health/live")
        connection.getresponse().read()
        waits.append(1e3 * (time.perf_counter() - before))
        time.sleep(0.002)
    connection.close()
    if client.returncode:
        raise RuntimeError(f"the large request was not answered: {client.returncode}")
    return waits, time.perf_counter() - start


def memory(bench: Bench) -> Iterator[Line]:
    """Resident memory over many requests of one row."""
    for kind in bench.models:
        with bench.server(kind) as server:
            sizes: list[tuple[int, float]] = []
            sent = 0
            while sent < bench.requests:
                rest = bench.requests - sent
                sent += bench.load(server, kind, "predict", min(10.0, 1.0 + rest / 4_000)).requests
                sizes.append((sent, memory_of(server)))
        early = next(size for count, size in sizes if count >= sent / 10)
        told = "; ".join(f"{size:.1f} after {count:,}" for count, size in _some(sizes))
        more = sizes[-1][1] - early
        yield Line(f"{kind}: memory, MB", told, "flat: the last nine tenths add < 2", more < 2.0)


def _some(sizes: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the first, the last, and a few between."""
    return [sizes[round(i)] for i in np.unique(np.linspace(0, len(sizes) - 1, 4).round())]


def connections(bench: Bench) -> Iterator[Line]:
    """Whether the server answers while many connections are open and say nothing."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < IDLE + 500:
        raise Skipped(f"this process may open {hard:,} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    kind = "naive Bayes"
    with bench.server(kind) as server, ExitStack() as idle:
        before = memory_of(server)
        for _ in range(IDLE):
            idle.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20))
        alone = bench.load(server, kind, "predict", 5)
        yield Line(
            f"{IDLE:,} idle connections: single rows a second beside them; p99, ms; MB for them",
            f"{alone.rate:,.0f}; {alone.p99:.1f}; {memory_of(server) - before:.0f}",
            "it answers", True,
        )  # fmt: skip


def start(bench: Bench) -> Iterator[Line]:
    """CPU from the start of the process to its first answer: the middle of five."""
    rows = json.loads((bench.folder / "predict").read_text().splitlines()[0])
    for kind in bench.models:
        for state in (False, True):
            spent = []
            for i in range(5):
                place = bench.folder / f"{kind}{i}"
                with bench.server(kind, *(("--state", place) if state else ())) as server:
                    status, _ = server.ask("POST", bench.address(kind, "predict"), rows)
                    assert status == http.client.OK
                    spent.append(cpu_of(server))
            found = sorted(spent)[2]
            yield Line(f"{kind}: CPU to the first answer, s{', with a state' * state}",
                       f"{found:.2f}", "< 1.0", found < 1.0)  # fmt: skip


PARTS: dict[str, Callable[[Bench], Iterator[Line]]] = {
    "peak": peak, "latency": latency, "learning": learning, "slow-disk": slow_disk,
    "health": health, "memory": memory, "connections": connections, "start": start,
}  # fmt: skip
