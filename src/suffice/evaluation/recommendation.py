"""Which model, of which school, and why: in plain words that claim no more than was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.errors import listed
from suffice.evaluation.best_model import (
    NEGLIGIBLE,
    Difference,
    best_of,
    difference,
    from_the_pool,
    gap_between,
    least_loss,
)
from suffice.evaluation.candidates import DISCRIMINATIVE, GENERATIVE, POOL, Candidate
from suffice.evaluation.cross_validation import OWN_FOLDS
from suffice.evaluation.diagnostics import assumed
from suffice.evaluation.quality import Quality
from suffice.printing.terminal_words import wrapped
from suffice.rows import is_sparse, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suffice.evaluation.cross_validation import HeldOut
    from suffice.evaluation.curves import Crossing
    from suffice.evaluation.diagnostics import Diagnostics
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.metrics import FoldScores
    from suffice.rows import FloatArray


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to use, and why.

    Parameters
    ----------
    model : str
        The pool, or a single model that is better beyond noise: see `best_of`.
    school : str
        "generative" or "discriminative"; "" for a pool, and for a model that is not ours.
    advice : str
        One sentence: what to use.
    reasons : tuple of str
        By how much, against what.
    assumptions : tuple of str, default=()
        Which of those that generative models make seem to hold, and which do not.
    worries : tuple of str, default=()
        What to look at before relying on it.
    judged : Quality or None, default=None
        How good that is on rows it has not seen, in figures; `str` of it is a sentence.

    See Also
    --------
    suffice.compare : Makes it.
    """

    model: str
    school: str
    advice: str
    reasons: tuple[str, ...]
    assumptions: tuple[str, ...] = ()
    worries: tuple[str, ...] = ()
    judged: Quality | None = None

    @property
    def best(self) -> str:
        """The model that is recommended: `model`, by the name that `Comparison` has for it."""
        return self.model

    @property
    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What stands below the advice: headings and their sentences, without empty ones."""
        found = (
            ("Why", self.reasons),
            ("What generative models assume", self.assumptions),
            ("Warnings", self.worries),
        )
        return tuple((head, lines) for head, lines in found if lines)

    def __str__(self) -> str:
        """Return it as wrapped text."""
        lines = [wrapped(self.advice)]
        lines += [] if self.judged is None else [wrapped(f"{self.judged}.")]
        for head, sentences in self.sections:
            lines += ["", f"{head}:", *(_hanging(f"- {sentence}") for sentence in sentences)]
        return "\n".join(lines)


def recommend(
    candidates: Sequence[Candidate],
    losses: Mapping[str, FloatArray],
    diagnostics: Diagnostics,
    crossings: Sequence[Crossing],
) -> Recommendation:
    """Choose by log-loss over the same folds, and tell by how much, and what is nearly as good.

    `losses` are those of every model in every fold. `reservations` adds what to worry about.
    """
    judged = [one for one in candidates if one.name in losses]
    chosen = best_of(judged, losses)
    share = 1.0 / (len(losses[chosen.name]) - 1.0)
    gaps = {one.name: gap_between(chosen, one, losses) for one in judged}
    tied = [one for one in judged if one is not chosen and gaps[one.name].is_noise]
    school = f", of the {chosen.school} school" if chosen.school else ""
    loss = losses[chosen.name].mean()
    told = f"{loss:.3f}" if loss >= 0.0005 else "below 0.001"
    the = "the " * (chosen.key == POOL)
    advice = f"Use {the}{chosen.name}{school}: its log-loss on held-out rows is {told}."
    reasons = _pooled(judged, losses, chosen)
    simpler = min(tied, key=lambda one: one.rank, default=None)
    told_of = _singles_told(judged, losses, chosen)
    if simpler in told_of or (simpler is not None and gaps[simpler.name].mean < 0.0):
        simpler = None  # the best single model, or one that only a pool is preferred to
    if simpler is not None and simpler.rank < chosen.rank:
        gap = gaps[simpler.name]
        slight = "within one standard error"
        slight = slight if gap.mean <= gap.standard_error else "too little to matter"
        reasons.append(
            f"{sentence(simpler.name)} is simpler, and its log-loss is higher by {gap}, {slight}: "
            "it is an equally good choice if you prefer a simple model."
        )
    others = [
        one
        for one in tied
        if one not in told_of and (one is not simpler or simpler.rank > chosen.rank)
    ]
    if others:
        it = "it" if chosen.is_pool else "the best"
        reasons.append(f"No clear difference from {it}, given the noise: {_names(others)}.")
    reasons += _schools(judged, gaps, losses, share, chosen)
    if chosen.school == DISCRIMINATIVE:
        reasons.append(
            "It assumes nothing about how the columns are distributed within a class; it cannot "
            "tell how typical a row is, nor skip a blank cell."
        )
    elif chosen.school == GENERATIVE:
        reasons.append(
            "It learns what the rows of each class look like, so it can also tell how typical "
            "a row is, skip blank cells, and learn new rows without a refit."
        )
    elif chosen.is_pool:
        reasons.append(
            "It combines generative and discriminative models, weighted by how well they predict "
            "rows they have not seen. It has no density: use a single model to ask how typical a "
            "row is or to generate rows."
        )
    reasons += [str(one) for one in crossings]
    if crossings:
        reasons.append("Crossing points hold for this data only.")
    return Recommendation(
        chosen.name, chosen.school, advice, tuple(reasons), tuple(assumed(diagnostics))
    )


def _pooled(
    judged: Sequence[Candidate], losses: Mapping[str, FloatArray], chosen: Candidate
) -> list[str]:
    """Return how the pool and the best single model compare."""
    if chosen.is_pool:
        beside = from_the_pool(judged, losses)
        return [f"{sentence(beside)}."] if beside else []
    pools = [one for one in judged if one.is_pool]
    if not pools:
        return []
    pool = least_loss(pools, losses)
    gap = gap_between(chosen, pool, losses)
    the = "the " * (pool.key == POOL)
    return [
        f"{sentence(the + pool.name)} has a log-loss higher by {gap}, more than noise explains."
    ]


def _singles_told(
    judged: Sequence[Candidate], losses: Mapping[str, FloatArray], chosen: Candidate
) -> list[Candidate]:
    """Return what `_pooled` has told of: the best single model, beside a pool."""
    singles = [one for one in judged if not one.is_pool]
    return [least_loss(singles, losses)] if chosen.is_pool and singles else []


def _names(some: Sequence[Candidate]) -> str:
    return listed(one.name for one in some)


def sentence(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _schools(
    judged: Sequence[Candidate],
    gaps: Mapping[str, Difference],
    losses: Mapping[str, FloatArray],
    share: float,
    chosen: Candidate,
) -> list[str]:
    """Return how the better of the other school compares with the one that is recommended."""
    other = {GENERATIVE: DISCRIMINATIVE, DISCRIMINATIVE: GENERATIVE}.get(chosen.school)
    rivals = [one for one in judged if one.school == other]
    if not rivals:
        return []
    rival = min(rivals, key=lambda one: gaps[one.name].mean)
    gap = difference(losses[chosen.name], losses[rival.name], share)
    if abs(gap.mean) <= max(gap.standard_error, NEGLIGIBLE):
        return [
            (
                f"The best of the {other} school, {rival.name}, is within noise of it "
                f"({gap.mean:+.3f} ± {gap.standard_error:.3f})."
            )
        ]
    sure = "clearly" if abs(gap.mean) > 2.0 * gap.standard_error else "somewhat"
    word = "higher" if gap.mean > 0.0 else "lower"
    return [
        (
            f"The best of the {other} school, {rival.name}, has a {sure} {word} log-loss: "
            f"by {abs(gap.mean):.3f} ± {gap.standard_error:.3f}."
        )
    ]


def _hanging(text: str) -> str:
    first, *rest = wrapped(text, indent=2).splitlines()
    return "\n".join([first, *(f"  {line}" for line in rest)])


SMALL_CLASS = 20.0
"""Rows below which a class is small. A choice: the standard error of a share of fewer may be
above √(0.25/20) = 0.11."""
ROWS_PER_COLUMN = 5.0
"""Rows for each column, below which there are few. A choice, on the lenient side of the rule of
thumb of ten."""
ENOUGH = 100
"""Rows from which on a calibration error is more than chance."""
OFF = 0.05
"""A calibration error from which probabilities should not be taken at their word."""


def reservations(
    said: Recommendation,
    rows: LabelledRows,
    held: Mapping[str, HeldOut],
    scores: Mapping[str, FoldScores],
    asked: Sequence[Candidate],
) -> Recommendation:
    """Return the recommendation with how good it is, and what else there is to worry about."""
    found = [*_baseline(said, rows, scores), *_small(rows), *_calibration(said, rows, scores)]
    keys = {one.key: one.name for one in asked}
    found += _overfitting(keys, scores)
    how = OWN_FOLDS if OWN_FOLDS in held[said.model].notes else None
    said = replace(said, judged=Quality.of_scores(scores[said.model], rows, how))
    warned = held[said.model].warned
    if warned:
        text, folds = max(warned, key=lambda one: one[1])
        found.append(f"{said.model} warned in {folds} fold{'s' * (folds > 1)}: {text}")
    return replace(said, worries=(*said.worries, *found))


def _baseline(
    said: Recommendation, rows: LabelledRows, scores: Mapping[str, FoldScores]
) -> list[str]:
    """Compare with always naming the commonest class."""
    shares = rows.counts / rows.counts.sum()
    right = scores[said.model].accuracy
    error = right.std(ddof=1) / np.sqrt(len(right))
    if right.mean() - 2.0 * error > shares.max():
        return []
    label = rows.classes[shares.argmax()]
    return [
        (
            f'Always saying "{label}" is right in {100.0 * shares.max():.1f} % of rows, '
            f"{said.model} in {100.0 * right.mean():.1f} %: no clear gain."
        )
    ]


def _small(rows: LabelledRows) -> list[str]:
    found = []
    counts = rows.counts
    small = np.flatnonzero(counts < SMALL_CLASS)
    if len(small):
        named = listed(f"{rows.classes[c]} ({counts[c]:g})" for c in small)
        found.append(f"Small classes, with too few rows to learn much about them: {named}.")
    width = rows.X.shape[1] if is_sparse(rows.X) else read_table(rows.X).width
    per = counts.sum() / width
    if per < ROWS_PER_COLUMN:
        found.append(f"There are only {per:.2g} rows for each column.")
    return found


def _calibration(
    said: Recommendation, rows: LabelledRows, scores: Mapping[str, FoldScores]
) -> list[str]:
    one = scores[said.model]
    if one.calibration is None or one.calibration <= OFF or len(rows) < ENOUGH:
        return []
    return [
        (
            f"Its probabilities are off by {one.calibration:.2f} on average "
            f"(± {one.calibration_error:.2f}): look at the reliability diagram before relying on "
            "them."
        )
    ]


def _overfitting(keys: Mapping[str, str], scores: Mapping[str, FoldScores]) -> list[str]:
    """Say where a penalty helps logistic regression much: its maximum is far out, or nowhere."""
    slight, real = (
        scores.get(keys.get("logistic", "")),
        scores.get(keys.get("logistic-penalty", "")),
    )
    if slight is None or real is None or slight.log_loss is None or real.log_loss is None:
        return []
    gaps = slight.log_loss - real.log_loss
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    if gaps.mean() <= 2.0 * error or gaps.mean() < 0.1 * slight.log_loss.mean():
        return []
    return [
        (
            f"Without a penalty the log-loss of {keys['logistic']} is higher by "
            f"{gaps.mean():.3f}: the classes are "
            "nearly separated by a plane, or there are few rows for so many columns."
        )
    ]
