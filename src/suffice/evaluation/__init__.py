"""How good models are on rows they have not seen, and which of them to use.

compare              the two schools on the same folds, with a recommendation in words
held_out             one estimator, every row judged without its fold; no refits where sums do
learning_curves      errors over the number of training rows; `crossing` says where two cross
diagnose             Mardia's and Box's tests and outliers, class by class
reliability          predicted probabilities beside observed shares
shrinkage_losses     many shrinkages, cross-validated from one pass
stratified_folds     scikit-learn's folds
accuracy, log_loss, brier, calibration_error
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.evaluation.candidates import Candidate
    from suffice.evaluation.comparison import Comparison, compare
    from suffice.evaluation.cross_validation import HeldOut, held_out
    from suffice.evaluation.curves import Crossing, LearningCurves, crossing, learning_curves
    from suffice.evaluation.diagnostics import Diagnostics, diagnose
    from suffice.evaluation.labelled_rows import LabelledRows
    from suffice.evaluation.merged_folds import ShrinkageLosses, shrinkage_losses, stratified_folds
    from suffice.evaluation.metrics import (
        Reliability,
        accuracy,
        brier,
        calibration_error,
        log_loss,
        reliability,
    )
    from suffice.evaluation.normality import BoxM, Mardia, box_m, mardia
    from suffice.evaluation.quality import Quality
    from suffice.evaluation.recommendation import Recommendation

__all__ = [
    "BoxM",
    "Candidate",
    "Comparison",
    "Crossing",
    "Diagnostics",
    "HeldOut",
    "LabelledRows",
    "LearningCurves",
    "Mardia",
    "Quality",
    "Recommendation",
    "Reliability",
    "ShrinkageLosses",
    "accuracy",
    "box_m",
    "brier",
    "calibration_error",
    "compare",
    "crossing",
    "diagnose",
    "held_out",
    "learning_curves",
    "log_loss",
    "mardia",
    "reliability",
    "shrinkage_losses",
    "stratified_folds",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.evaluation.candidates": ["Candidate"],
        "suffice.evaluation.comparison": ["Comparison", "compare"],
        "suffice.evaluation.cross_validation": ["HeldOut", "held_out"],
        "suffice.evaluation.curves": ["Crossing", "LearningCurves", "crossing", "learning_curves"],
        "suffice.evaluation.diagnostics": ["Diagnostics", "diagnose"],
        "suffice.evaluation.quality": ["Quality"],
        "suffice.evaluation.labelled_rows": ["LabelledRows"],
        "suffice.evaluation.merged_folds": [
            "ShrinkageLosses",
            "shrinkage_losses",
            "stratified_folds",
        ],
        "suffice.evaluation.metrics": [
            "Reliability",
            "accuracy",
            "brier",
            "calibration_error",
            "log_loss",
            "reliability",
        ],
        "suffice.evaluation.normality": ["BoxM", "Mardia", "box_m", "mardia"],
        "suffice.evaluation.recommendation": ["Recommendation"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
