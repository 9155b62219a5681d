"""What was learned: Bayes' rule over class densities, and what follows from it."""

from suffice.models.generative import GenerativeModel
from suffice.models.learner import GaussianLearner
from suffice.models.leave_one_out import LeaveOneOut, leave_one_out
from suffice.models.linear import LinearForm

__all__ = ["GaussianLearner", "GenerativeModel", "LeaveOneOut", "LinearForm", "leave_one_out"]
