"""What was learned: Bayes' rule over class densities, and what follows from it."""

from suffice.models.bridge import Bridge, bridge_of
from suffice.models.gaussian.model import GenerativeModel
from suffice.models.gaussian.learner import GaussianLearner
from suffice.models.gaussian.leave_one_out.leave_one_out import LeaveOneOut, leave_one_out
from suffice.models.linear.form import LinearForm
from suffice.models.linear.logistic.fit import fit_logistic
from suffice.models.linear.logistic.result import LogisticFit
from suffice.models.naive_bayes.model import NaiveBayesModel
from suffice.models.naive_bayes.learner import NaiveBayesLearner
from suffice.models.gaussian.auto_covariance import ShrinkagePath, shrinkage_path

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
