"""What words the settings of estimators may be, for type checkers and editors.

The learners check settings when rows are read, and their refusals name what there is; a test holds
both lists to each other.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Letters: TypeAlias = Literal[
    "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE",
    "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV",
]  # fmt: skip
"""The covariance forms of mclust."""
SpokenForm: TypeAlias = Literal["shared", "per-class", "diagonal", "shared-diagonal", "spherical"]
"""Forms that have a word of their own."""
Covariance: TypeAlias = Literal[SpokenForm, Letters, "auto"]
"""What `covariance` may be."""
ShrinkTarget: TypeAlias = Literal["diagonal", "scaled"]
"""Where shrunk covariances end."""
Divisor: TypeAlias = Literal["mle", "unbiased"]
"""What variances are divided by."""
Criterion: TypeAlias = Literal["bic", "icl"]
"""By what the number and form of components are chosen."""
Event: TypeAlias = Literal["bernoulli", "boolean", "complement", "multinomial", "language", "both"]
"""What a text is made of, one by one."""
Weighting: TypeAlias = Literal["tf", "tf-idf", "notes"]
"""What counts of terms become."""
