"""A server under load: files, requests, wrk, and what /proc says of the process."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import suffice
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTIONS = 32
"""Clients that ask at the same time."""
RECORDS = 1_000
"""Different requests that clients take turns with."""
LEVELS = ("red", "blue", "green", "white", "black")
"""Categories of a column."""
TICKS = os.sysconf("SC_CLK_TCK")
"""In which /proc counts CPU, a second."""
SCRIPT = """
number = 0  -- of the thread; a global, which `setup` can reach
local count, threads, bodies = 0, 0, {}
function setup(thread) thread:set("number", threads); threads = threads + 1 end
function init(args)
  math.randomseed(number + 1)
  for line in io.lines(args[1]) do bodies[#bodies + 1] = line end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end
function request()
  count = count + 1
  local body = bodies[(count * 7 + number) % #bodies + 1]
  if os.getenv("IDS") then
    body = '{"id":"' .. os.getenv("IDS") .. "-" .. number .. "-" .. count .. '",' .. body:sub(2)
  end
  return wrk.format(nil, nil, nil, body)
end
if os.getenv("PAUSE") then
  function delay()
    return math.floor(-math.log(1 - math.random()) * os.getenv("PAUSE") + math.random())
  end
end
function done(summary, latency)
  local wrong = summary.errors
  io.write(string.format(
    '\\nDONE {"requests": %d, "seconds": %g, "wrong": %d, "p50": %g, "p99": %g, "most": %g}\\n',
    summary.requests, summary.duration / 1e6,
    wrong.status + wrong.connect + wrong.read + wrong.write + wrong.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
"""
"""What wrk sends: each request another record, with an id of its own where rows are learned; with
PAUSE, milliseconds between an answer and the next request of a connection, as exponential as
people are."""


class Skipped(Exception):
    """A part that cannot be measured here."""


class Load(NamedTuple):
    """What wrk says: latencies in milliseconds, and the server's CPU seconds meanwhile."""

    requests: int
    seconds: float
    p50: float
    p99: float
    most: float
    cpu: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


class Bench:
    """Model files, requests, and servers that are asked."""

    def __init__(self, folder: Path, seconds: int, requests: int) -> None:
        self.folder, self.seconds, self.requests = folder, seconds, requests
        rows, labels = table(2_000, 1)
        frame = pd.DataFrame(rows)
        self.models = {"naive Bayes": folder / "bayes.suffice", "GDA": folder / "gda.suffice"}
        suffice.NaiveBayes().fit(frame, labels).save(self.models["naive Bayes"])
        suffice.GaussianDiscriminant().fit(frame, labels).save(self.models["GDA"])
        rows, labels = table(RECORDS, 2)
        asked = [{"rows": [row]} for row in rows]
        taught = [{"rows": [row], "labels": [label]} for row, label in zip(rows, labels,
                                                                          strict=True)]  # fmt: skip
        for name, bodies in (("predict", asked), ("learn", taught)):
            lines = (json.dumps(body, separators=(",", ":")) for body in bodies)
            (folder / name).write_text("\n".join(lines) + "\n")
        (folder / "load.lua").write_text(SCRIPT)

    @contextmanager
    def server(self, kind: str, *more: object, **env: str) -> Iterator[ServerProcess]:
        """Start a server of a model, and stop it."""
        server = ServerProcess(self.models[kind], *more, env=env)
        try:
            yield server
            if server.stop():
                raise RuntimeError(f"the server did not leave in order: {server.said}")
        finally:
            server.kill()

    def address(self, kind: str, what: str) -> str:
        """Return the path of a question."""
        return f"/v1/models/{self.models[kind].stem}/{what}"

    def load(
        self, server: ServerProcess, kind: str, what: str, seconds: float, pause: float = 0.0,
        **env: str,
    ) -> Load:  # fmt: skip
        """Let wrk send requests for some seconds."""
        if pause:
            env["PAUSE"] = f"{pause:.6f}"
        url = f"http://127.0.0.1:{server.port}{self.address(kind, what)}"
        command = [needed("wrk"), "-t2", f"-c{CONNECTIONS}", f"-d{math.ceil(seconds)}s", "-s",
                   self.folder / "load.lua", url, "--", self.folder / what]  # fmt: skip
        before = cpu_of(server)
        said = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, **env},
            timeout=seconds + 60,
        ).stdout  # fmt: skip
        found = json.loads(said.rpartition("DONE")[2])
        if found.pop("wrong"):
            raise RuntimeError(f"some requests were not answered, or refused: {said}")
        return Load(**found, cpu=cpu_of(server) - before)


def table(size: int, seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return records of six numbers and four categories, a cell in twenty blank, and labels."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=size)
    numbers = np.round(rng.standard_normal((size, 6)) + codes[:, np.newaxis] * 0.7, 3)
    texts = (rng.integers(len(LEVELS), size=(size, 4)) + codes[:, np.newaxis]) % len(LEVELS)
    blank = rng.random((size, 10)) < 0.05
    rows = []
    for i in range(size):
        cells = [*numbers[i].tolist(), *(LEVELS[code] for code in texts[i])]
        rows.append({f"x{j}": None if blank[i, j] else cells[j] for j in range(10)})
    return rows, [f"class {code}" for code in codes]


def needed(program: str) -> str:
    """Return where a program is, or skip the part."""
    found = shutil.which(program)
    if found is None:
        raise Skipped(f"{program} is not installed (Debian has it)")
    return found


def cpu_of(server: ServerProcess) -> float:
    """Return the CPU seconds of a server, with its threads."""
    text = Path(f"/proc/{server.process.pid}/stat").read_text()
    spent = text.rpartition(")")[2].split()
    return (int(spent[11]) + int(spent[12])) / TICKS


def memory_of(server: ServerProcess) -> float:
    """Return the resident memory of a server, in MB."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024
