"""The one thread that writes: requests that wait are committed together, then they are answered.

A request is answered when its rows are in the log, and synced. While one group is being written,
the next one gathers: a disk that syncs slowly makes groups larger, and not learners fewer.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from suffice.errors import ForgettingUnseen, SufficeError
from suffice.serve.http.problems import HttpProblem
from suffice.serve.served_model import ServedModel
from suffice.serve.state.held_models import (
    Forgetting,
    HeldPosition,
    Snapshot,
    is_new_to,
    learned_entries,
    learned_later,
    learned_log,
    opened_model,
    without_rows,
)
from suffice.serve.state.jobs import ForgetJob, LearnJob, fate_of, not_in_log, tell_all
from suffice.serve.state.log import NEW, StateFull, StateUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suffice.serve.http.metrics import ServerMetrics
    from suffice.serve.models import Models
    from suffice.serve.state.entries import LogEntry, LogPosition
    from suffice.serve.state.log import StateLog

LOOK = 0.25
"""Seconds between two looks at what other servers have learned: a second is promised."""
MOST_TOGETHER = 1024
"""Requests of one transaction."""
GATHER = 0.5
"""The share of the time that a commit takes for which a group waits for those who have just been
answered: two groups that take turns make every client wait for two syncs, and one group for one."""
MOST_GATHER = 0.02
"""Seconds that a group waits at most: a choice."""
LOOKS = 8
"""Times that a group looks whether all have come while it waits. A choice."""


class Learning:
    """Takes requests to learn and to forget, and answers them when they are durable."""

    def __init__(
        self, log: StateLog, models: Models, metrics: ServerMetrics, *, most_waiting: int = 1024
    ) -> None:
        self.log, self._models, self._metrics = log, models, metrics
        self._most = most_waiting
        self._queue: SimpleQueue[LearnJob | ForgetJob | Snapshot | None] = SimpleQueue()
        self._waiting = 0
        self._asking = 1  # how many ask at the same time: a group, and those behind it
        self._commit = 0.0  # seconds that the last commit took
        self._in_doubt = False
        self._unclear = False  # whether the log still holds what was forgotten
        self._looked = time.monotonic()
        self._held: dict[str, HeldPosition] = {}
        self._thread = threading.Thread(target=self._run, name="suffice-log", daemon=True)

    def add(
        self, name: str, base: ServedModel, position: LogPosition, generation: int, read: int
    ) -> None:
        """Know a model of the state, and how many rows beyond a snapshot were read to open it."""
        self._held[name] = HeldPosition(base, position, generation, read)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, and leave everything in order."""
        self._queue.put(None)
        self._thread.join()

    def put(self, job: LearnJob | ForgetJob) -> None:
        """Take a request; too many that wait are turned away."""
        if self._waiting >= self._most:
            raise HttpProblem(503, f"{self._waiting} requests wait to be written", "try again")
        self._waiting += 1
        self._queue.put(job)

    # The thread

    def _run(self) -> None:
        leaving = False
        while not leaving:
            jobs, leaving = self._gathered()
            while jobs:
                learns = []
                while jobs and isinstance(jobs[0], LearnJob):
                    learns.append(jobs.pop(0))
                if learns:
                    self._guarded(self._learn, learns)
                elif isinstance(jobs[0], ForgetJob):
                    job = jobs.pop(0)
                    self._guarded(self._forget, [job])
                else:
                    self._keep_snapshot(jobs.pop(0))
            self._tidy()
        self._last_snapshots()
        self.log.close()

    def _gathered(self) -> tuple[list[Any], bool]:
        """Wait for a request, and take those with it that wait as well."""
        try:
            first = self._queue.get(timeout=LOOK)
        except Empty:
            return [], False
        jobs: list[object] = [first]
        if self._asking > 1:
            pause = min(GATHER * self._commit, MOST_GATHER) / LOOKS
            for _ in range(LOOKS):
                if self._queue.qsize() + 1 >= self._asking:
                    break
                time.sleep(pause)
        while jobs[-1] is not None and len(jobs) < MOST_TOGETHER:
            try:
                jobs.append(self._queue.get_nowait())
            except Empty:
                break
        if jobs[-1] is None:
            return jobs[:-1], True
        return jobs, False

    def _guarded(self, work: Callable[[Any], list[tuple[Any, Any]]], jobs: list[Any]) -> None:
        """Do work, and tell those who wait, whatever happens."""
        try:
            told = work(jobs)
        except StateFull as error:
            self._in_doubt = True
            words = f"{error}: nothing was learned or forgotten"
            why = HttpProblem(
                507, words, "it continues when there is space; predictions still work"
            )
            told = [(job.answer, why) for job in jobs]
        except StateUnavailable as error:
            self._in_doubt = True
            why = HttpProblem(503, f"the log cannot be used: {error}", "send the same id again")
            told = [(job.answer, why) for job in jobs]
        except SufficeError as error:
            told = [(job.answer, error) for job in jobs]
        except BaseException as error:  # noqa: BLE001  the thread goes on
            traceback.print_exception(error, file=sys.stderr)
            self._in_doubt = True
            told = [(job.answer, RuntimeError("see the log")) for job in jobs]
        self._waiting -= len(jobs)
        if told:
            told[0][0].get_loop().call_soon_threadsafe(tell_all, told)

    # Learning

    def _learn(self, jobs: Sequence[LearnJob]) -> list[tuple[object, object]]:
        self._settle_doubt()
        names = list(dict.fromkeys(job.model for job in jobs))
        told: list[tuple[object, object]] = []
        after: dict[str, ServedModel] = {}
        written: list[tuple[str, LogEntry]] = []
        start = time.monotonic()
        with self.log.transaction():
            for name in names:
                # In one order on all servers: none waits for another that waits for it.
                own = sorted((job for job in jobs if job.model == name), key=lambda j: j.entry.id)
                fates = self.log.append(name, [job.entry for job in own])
                new = [job for job, fate in zip(own, fates, strict=True) if fate == NEW]
                model, refused = self._with(self._models[name], new)
                before = self._models[name]
                gone: dict[str, SufficeError] = {}
                for job, fate in zip(own, fates, strict=True):
                    if job.entry.seq in refused and fate == NEW:
                        self.log.take_back(job.entry)
                        gone[job.entry.id] = refused[job.entry.seq]
                    if job.entry.id in gone:  # and what came with the same id: it is not there
                        told.append((job.answer, gone[job.entry.id]))
                        continue
                    if fate == NEW:
                        written.append((name, job.entry))
                    told.append((job.answer, fate_of(job.entry, fate, before)))
                after[name] = model
        self._metrics.commits += 1
        self._commit = time.monotonic() - start
        self._asking = len(jobs) + self._queue.qsize()
        for name, model in after.items():
            if model is not self._models[name]:
                self._models.replace(model)
        for name, entry in written:
            held = self._held[name]
            held.position.add(entry)
            held.rows_since += len(entry.rows)
            self._metrics.learned[name] += len(entry.rows)
            if not self.log.shared:
                held.position.advance((entry.seq or 0) + 1)
        return told

    def _with(
        self, model: ServedModel, jobs: Sequence[LearnJob]
    ) -> tuple[ServedModel, dict[int | None, SufficeError]]:
        """Return a model with what was learned, and refusals by number, of rows that cannot be."""
        try:
            return learned_later(model, [job.entry for job in jobs]), {}
        except SufficeError as error:
            if len(jobs) == 1:
                return model, {jobs[0].entry.seq: error}
        refused: dict[int | None, SufficeError] = {}
        for job in jobs:
            try:
                model = learned_entries(model, [job.entry])
            except SufficeError as error:
                refused[job.entry.seq] = error
        return model, refused

    # Forgetting

    def _forget(self, jobs: Sequence[ForgetJob]) -> list[tuple[object, object]]:
        (job,) = jobs
        self._settle_doubt()
        name = job.model
        if self._unclear:
            self._clear()
        with self.log.transaction(alone=True):
            if self.log.shared:
                self._catch_up(name)
            held = self._held[name]  # after that: another server may have forgotten too
            if job.id is not None:
                entry = self.log.entry(name, job.id)
                if entry is None:
                    return [(job.answer, self._nothing(name, job.id))]
                plan = Forgetting.of_entry(entry)
            else:
                plan = Forgetting.of_rows(job.rows, job.labels, self.log.entries(name))
            base, changed = held.base, None
            if plan.rest[0] and not job.from_file:
                return [(job.answer, not_in_log(len(plan.rest[0]), plan.size))]
            if plan.rest[0]:
                base = without_rows(base, *plan.rest)
                changed = base.file_bytes()
            for entry in plan.removed:
                self.log.remove(name, entry)
            for entry in plan.rewritten:
                self.log.rewrite(entry)
            model = self._without(name, base, plan)
            generation = held.generation + 1
            position = held.position.copy()
            self.log.next_generation(name, generation, changed, model.file_bytes(), position)
        before = set(self._models[name].classes)
        held.base, held.generation, held.rows_since = base, generation, 0
        self._models.replace(model)
        self._metrics.forgotten[name] += plan.size
        self._metrics.commits += 1
        self._clear()
        found: dict[str, object] = {
            "rows": plan.size,
            "classes_left_out": sorted(map(str, before - set(model.classes))),
        }
        if job.id is not None:
            found["id"] = job.id
        if plan.rest[0]:
            told = f"{len(plan.rest[0])} of them came with the model file: the state has forgotten "
            found["notes"] = [f"{told}them, the file itself and its copies have not"]
        return [(job.answer, found)]

    def _clear(self, *, patient: bool = True) -> None:
        """Remove what the log still holds of forgotten rows; what fails is tried again."""
        self._unclear = True
        self.log.after_forgetting(patient=patient)
        self._unclear = False

    def _without(self, name: str, base: ServedModel, plan: Forgetting) -> ServedModel:
        """Return what is left; where names would stay behind, from the log anew."""
        rows = [*plan.gone[0], *plan.rest[0]], [*plan.gone[1], *plan.rest[1]]
        if not is_new_to(base, *rows):
            try:
                return without_rows(self._models[name], *rows)
            except ForgettingUnseen:
                if not plan.gone[0]:
                    raise
        return learned_log(base, self.log.entries(name))

    def _nothing(self, name: str, identity: str) -> object:
        if self.log.was_forgotten(name, identity):
            return {"id": identity, "rows": 0, "already": True, "classes_left_out": []}
        return HttpProblem(
            409, f"nothing was learned under the id {identity[:80]!r}", "nothing was changed"
        )

    # Others, and doubts

    def _tidy(self) -> None:
        """Do what is done now and then; a log that cannot be used just now is tried again."""
        try:
            self._look_at_others()
            if self._unclear:
                self._clear(patient=False)
            self._make_snapshots()
        except (StateUnavailable, SufficeError):
            self._in_doubt = True

    def _catch_up(self, name: str) -> None:
        """Learn what the log holds and this server does not."""
        held = self._held[name]
        generation = self.log.generation(name)
        if generation != held.generation:
            found = self.log.model_state(name)
            if found is None:
                raise StateUnavailable(f"{name} is not in the state any more")
            position = found.position
            model, read = opened_model(self.log, name, found)
            base = ServedModel.of_bytes(name, found.base, f"{name} in {self.log.place}")
            self._held[name] = HeldPosition(base, position, found.generation, read)
            self._models.replace(model)
            return
        position = held.position.copy()
        new = list(self.log.since(name, position))
        if new:
            self._models.replace(learned_log(self._models[name], new))
            held.rows_since += sum(len(entry.rows) for entry in new)
        held.position = position

    def _settle_doubt(self) -> None:
        """Read the log again after a transaction of which nobody knows whether it ended."""
        if self._in_doubt:
            for name in self._held:
                self._catch_up(name)
            self._in_doubt = False

    def _look_at_others(self) -> None:
        """Learn what other servers have learned since, and forget what they have forgotten."""
        if not self.log.shared or time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        for name in self._held:
            self._catch_up(name)

    # Snapshots

    def _make_snapshots(self) -> None:
        """Begin snapshots of models that have learned much: they are written by another thread."""
        for name, held in self._held.items():
            if held.is_due() and not held.making:
                made = held.begun(name)
                threading.Thread(
                    target=self._packed, args=(made, self._models[name]), daemon=True
                ).start()

    def _packed(self, made: Snapshot, model: ServedModel) -> None:
        try:
            made.content = model.file_bytes()
        except Exception as error:  # noqa: BLE001  the log is the truth: nothing is lost
            traceback.print_exception(error, file=sys.stderr)
        self._queue.put(made)

    def _keep_snapshot(self, made: Snapshot) -> None:
        held = self._held[made.model]
        held.making = False
        if made.content is None or made.generation != held.generation:
            return
        try:
            if self.log.write_snapshot(made.model, made.generation, made.content, made.position):
                self._metrics.snapshots += 1
        except (StateUnavailable, SufficeError):
            self._in_doubt = True

    def _last_snapshots(self) -> None:
        for name, held in self._held.items():
            if held.rows_since:
                made = held.begun(name)
                self._packed(made, self._models[name])
                self._keep_snapshot(made)
