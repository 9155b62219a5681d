"""What models are called where a person names one: `fit --model`, `compare --model`, `train`."""

from __future__ import annotations

OTHER_NAMES = {
    "lda": "gda",
    "linear-discriminant": "gda",
    "quadratic-discriminant": "qda",
    "mda": "mixture-discriminant",
    "mclustda": "mixture-discriminant",
    "nb": "naive-bayes",
    "bayes": "naive-bayes",
    "logreg": "logistic",
    "logit": "logistic",
    "softmax": "logistic",
    "logistic-regression": "logistic",
}
"""Usual names of models, and the one that stands in files and tables: people bring theirs along."""
COMPARED = (
    "naive-bayes-shared",
    "gda",
    "naive-bayes",
    "logistic-penalty",
    "logistic",
    "gda-auto",
    "qda",
    "pool",
)
"""The names of the models that are usually compared, in the order of their tables; the help of
`suffice compare` lists them."""


def usual_name(given: str) -> str:
    """Return the name of a model by any of its usual names; others come back as they are.

    Parameters
    ----------
    given : str
        What a person has written: capitals, spaces and underscores do not matter.

    Examples
    --------
    >>> usual_name("LDA"), usual_name("naive_bayes"), usual_name("my model")
    ('gda', 'naive-bayes', 'my model')
    """
    plain = given.strip().lower().replace("_", "-").replace(" ", "-")
    known = {*COMPARED, *OTHER_NAMES.values()}
    return OTHER_NAMES.get(plain, plain if plain in known else given)
