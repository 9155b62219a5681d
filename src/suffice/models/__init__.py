"""What was learned: Bayes' rule over class densities, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.facade import lazy

if TYPE_CHECKING:
    from suffice.models.bridge import Bridge, bridge_of
    from suffice.models.gaussian.auto_covariance import ShrinkagePath, shrinkage_path
    from suffice.models.gaussian.learner import GaussianLearner
    from suffice.models.gaussian.leave_one_out.leave_one_out import leave_one_out
    from suffice.models.gaussian.model import GenerativeModel
    from suffice.models.left_out import LeaveOneOut
    from suffice.models.linear.form import LinearForm
    from suffice.models.linear.logistic.fit import fit_logistic
    from suffice.models.linear.logistic.result import LogisticFit
    from suffice.models.naive_bayes.learner import NaiveBayesLearner
    from suffice.models.naive_bayes.model import NaiveBayesModel

__all__ = [
    "Bridge",
    "GaussianLearner",
    "GenerativeModel",
    "LeaveOneOut",
    "LinearForm",
    "LogisticFit",
    "NaiveBayesLearner",
    "NaiveBayesModel",
    "ShrinkagePath",
    "bridge_of",
    "fit_logistic",
    "leave_one_out",
    "shrinkage_path",
]

_find, __dir__ = lazy(
    __name__,
    {
        "suffice.models.bridge": ["Bridge", "bridge_of"],
        "suffice.models.gaussian.auto_covariance": ["ShrinkagePath", "shrinkage_path"],
        "suffice.models.gaussian.learner": ["GaussianLearner"],
        "suffice.models.gaussian.leave_one_out.leave_one_out": ["leave_one_out"],
        "suffice.models.left_out": ["LeaveOneOut"],
        "suffice.models.gaussian.model": ["GenerativeModel"],
        "suffice.models.linear.form": ["LinearForm"],
        "suffice.models.linear.logistic.fit": ["fit_logistic"],
        "suffice.models.linear.logistic.result": ["LogisticFit"],
        "suffice.models.naive_bayes.learner": ["NaiveBayesLearner"],
        "suffice.models.naive_bayes.model": ["NaiveBayesModel"],
    },
)

if not TYPE_CHECKING:  # a type checker knows the names above, and no others
    __getattr__ = _find
