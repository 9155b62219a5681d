"""Small requests that arrive together are answered together.

A model takes as long for one row as for sixteen: most of it is not arithmetic. So rows of requests
that have arrived at the same time become one table. Each request gets its own answer, or its own
refusal: a row that is refused is asked about again by itself.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Any

from suffice.errors import SufficeError
from suffice.serve.served_model import Predicted

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

    from suffice.serve.served_model import ServedModel

    Waiting = tuple[list[tuple[Any, ...]], asyncio.Future[Predicted]]

MOST_TOGETHER = 256
"""Rows that are answered at once, in the thread that reads requests: about a millisecond."""
SLOW = 0.005
"""Seconds from which on answers are left to a thread: others wait meanwhile. Pools of models and
long texts take that long."""
LATELY = 0.2
"""How much the last answer counts in what is expected of the next."""


class SmallBatches:
    """Rows that wait for the end of this turn of the event loop."""

    def __init__(self, model: Callable[[], ServedModel], threads: ThreadPoolExecutor) -> None:
        self._model, self._threads = model, threads
        self._waiting: list[Waiting] = []
        self._expected = 0.0

    def ask(self, rows: list[tuple[object, ...]]) -> asyncio.Future[Predicted]:
        """Return what will be the answer about rows that `RowReader.plain_rows` has passed."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Predicted] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._answer_all)
        self._waiting.append((rows, answer))
        return answer

    def _answer_all(self) -> None:
        waiting, self._waiting = self._waiting, []
        model = self._model()
        while waiting:
            size, many = 0, 0
            while many < len(waiting) and (not many or size < MOST_TOGETHER):
                size += len(waiting[many][0])
                many += 1
            some, waiting = waiting[:many], waiting[many:]
            if model.is_ready and self._expected < SLOW:
                start = perf_counter()
                _resolve(_answers(model, some))
                self._expected += LATELY * (perf_counter() - start - self._expected)
            else:
                self._expected *= 1.0 - LATELY  # tried here again after a while
                loop = asyncio.get_running_loop()
                done = loop.run_in_executor(self._threads, _answers, model, some)
                done.add_done_callback(lambda found: _resolve(found.result()))


def _answers(
    model: ServedModel, some: list[Waiting]
) -> list[tuple[asyncio.Future[Predicted], object]]:
    """Return answers, or refusals, of some requests."""
    rows = [row for given, _ in some for row in given]
    try:
        found = model.predict(model.reader.table_of_plain(rows))
    except SufficeError as error:
        if len(some) == 1:
            return [(some[0][1], error)]
        return [one for each in some for one in _answers(model, [each])]
    except Exception as error:  # noqa: BLE001  whoever asked is told
        return [(answer, error) for _, answer in some]
    told: list[tuple[asyncio.Future[Predicted], object]] = []
    start = 0
    for given, answer in some:
        stop = start + len(given)
        part = None if found.posterior is None else found.posterior[start:stop]
        told.append((answer, Predicted(found.codes[start:stop], part)))
        start = stop
    return told


def _resolve(answers: list[tuple[asyncio.Future[Predicted], Any]]) -> None:
    for answer, found in answers:
        if answer.done():  # whoever asked has gone
            continue
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)
