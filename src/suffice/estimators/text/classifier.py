"""The classifier of texts: words, bytes, or both, with probabilities that can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from suffice.estimators.statistics_classifier import StatisticsClassifier
from suffice.learning.learners.text import TextClassifierLearner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice.estimators.setting_types import Event
    from suffice.learning.learner import Learner
    from suffice.learning.learners.text import LearnedTexts
    from suffice.learning.results import TextExplanation
    from suffice.rows import Label


class TextClassifier(StatisticsClassifier):
    """Naive Bayes of words, a language model of bytes, or both: learned in one pass, taken back.

    Documents are str or bytes. Nothing but counts is kept, and a sample of 2,048 documents where
    something is held out: by it smoothing and calibration are chosen, leaving each document out of
    the counts in turn. So models merge, learn more and forget exactly.

    Parameters
    ----------
    event : str, default "both"
        "boolean", "multinomial", "bernoulli" or "complement" terms, "language": bytes one after the
        other, "both": boolean and bytes.
    ngrams : tuple[int, int], default (1, 2)
        Words of a term, least and most.
    lower : bool, default True
        Whether terms are in lower case.
    order : int, default 5
        Of the language model: a byte depends on the order - 1 before it.
    limit : int, default 3000
        Bytes of a text that the language model looks at; None: all.
    smoothing : float or "held-out", default "held-out"
        Pseudo-counts α > 0 of the terms; "held-out" chooses it.
    calibrated : bool, default True
        Whether probabilities are those of documents never seen.
    priors : dict, optional
        {label: probability}; None is the class frequencies.
    unlabelled : float or str, default "ignore"
        Documents without a label: left out; a weight up to 1 for each; or "auto": weight and steps
        of EM by labelled ones left out.

    See Also
    --------
    TextVectorizer : Documents to counts or TF-IDF weights, for any classifier.
    MultinomialNaiveBayes : For counts that are there already.

    Examples
    --------
    >>> texts = ["buy cheap pills now", "cheap watches!!!", "lunch at one?", "see you at lunch"]
    >>> model = TextClassifier().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> print(*model.predict(["cheap lunch pills", "at one"]))
    spam ham
    """

    learner_kind: ClassVar[type[Learner]] = TextClassifierLearner

    if TYPE_CHECKING:

        def _now(self) -> LearnedTexts: ...

    def __init__(
        self,
        event: Event = "both",
        *,
        ngrams: tuple[int, int] = (1, 2),
        lower: bool = True,
        order: int = 5,
        limit: int | None = 3000,
        smoothing: float | Literal["held-out"] = "held-out",
        calibrated: bool = True,
        priors: Mapping[Label, float] | None = None,
        unlabelled: float | str = "ignore",
    ) -> None:
        self.event = event
        self.ngrams = ngrams
        self.lower = lower
        self.order = order
        self.limit = limit
        self.smoothing = smoothing
        self.calibrated = calibrated
        self.priors = priors
        self.unlabelled = unlabelled

    def sample(
        self,
        n: int = 1,
        y: Label | None = None,
        random_state: object = None,
        *,
        most: int = 10_000,
    ) -> tuple[list[str], NDArray[Any]]:
        """Write texts, and return their labels; of one class if `y` names it.

        The language model writes byte after byte until the text ends, or has `most` bytes.
        """
        return self._now().sample(n, y, random_state, most=most)

    def explain(
        self, X: object, *, of: Label | None = None, against: Label | None = None
    ) -> TextExplanation:
        """Split the log odds between two classes by the words of each document.

        By default the likeliest class is compared with the runner-up.

        >>> texts = ["buy cheap pills", "cheap watches", "lunch at one?", "see you at lunch"]
        >>> model = TextClassifier("boolean").fit(texts, ["spam", "spam", "ham", "ham"])
        >>> model.explain(["cheap lunch, cheap!"], of="spam").reasons()[0][0][0]
        'cheap'
        """
        return self._now().explain(X, of, against)

    @property
    def smoothing_(self) -> float:
        """α in use: given, or chosen by documents left out."""
        found: float = self._now().model.smoothing
        return found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that rows are texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
