"""What was learned: Bayes' rule over class densities, and what follows from it."""

from suffice.models.generative import GenerativeModel
from suffice.models.learner import GaussianLearner
from suffice.models.leave_one_out import LeaveOneOut, leave_one_out
from suffice.models.linear import LinearForm
from suffice.models.naive_bayes import NaiveBayesModel
from suffice.models.naive_bayes_learner import NaiveBayesLearner
from suffice.models.shrinkage_path import ShrinkagePath, shrinkage_path

__all__ = [
    "GaussianLearner",
    "GenerativeModel",
    "LeaveOneOut",
    "LinearForm",
    "NaiveBayesLearner",
    "NaiveBayesModel",
    "ShrinkagePath",
    "leave_one_out",
    "shrinkage_path",
]
