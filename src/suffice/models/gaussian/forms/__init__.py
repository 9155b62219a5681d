"""The fourteen forms of covariances: what their three letters mean, and what follows from them."""

from __future__ import annotations

from suffice.errors import BadSetting, listed

LETTERS = (
    "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE",
    "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV",
)  # fmt: skip
"""The forms of Celeux and Govaert (1995), by mclust's names: Σ_k = λ_k D_k A_k D_kᵀ. The letters
are volume λ, shape A and orientation D: equal, varying, or the identity."""
SPOKEN = {
    "EEE": "shared",
    "VVV": "per-class",
    "VVI": "diagonal",
    "EEI": "shared-diagonal",
    "VII": "spherical",
}
"""Our words for five of them: those that have statistics and rules of their own."""
SHARED = ("shared", "EEE")
"""The names of the one covariance for all classes."""
TIED_FORMS = tuple(form for form in LETTERS if form not in SPOKEN)
"""The other nine: classes share part of their covariances. Scatters of each class suffice."""
UNIT_FORMS = ("EII", "VII", "EEV", "VEV", "EVE", "VVE")
"""Forms that depend on the columns' units: what is equal, or turned, is a length across columns.
The other eight say the same of a table in any units."""
IN_WORDS = {
    "EII": "all classes have one variance, the same for all columns",
    "VEI": "columns are independent; the variances of the classes are proportional",
    "EVI": "columns are independent; each class has its own variances, all of the same volume",
    "VEE": "the covariances of the classes are proportional",
    "EVE": "classes share axes and volume, but not the lengths along the axes",
    "VVE": "classes share axes, but not the lengths along them",
    "EEV": "classes share size and shape, but not orientation",
    "VEV": "classes share the shape, but not size or orientation",
    "EVV": "each class has its own covariance, all of the same volume",
}
"""What the nine assume, for people."""


BY_LETTERS = f", or a form by its three letters, {LETTERS[0]} … {LETTERS[-1]}"
"""What a hint that lists our words adds to them."""


def letters_of(covariance: str) -> str:
    """Return the three letters of a form, by whichever of its names.

    >>> letters_of("shared"), letters_of("VEV")
    ('EEE', 'VEV')
    """
    return next((form for form, word in SPOKEN.items() if word == covariance), covariance)


def spoken(covariance: str, words: tuple[str, ...]) -> str:
    """Return the one name of a form: our word where there is one, and else its letters.

    >>> spoken("EEE", ("shared",)), spoken("VEV", ("shared",))
    ('shared', 'VEV')
    """
    if covariance not in LETTERS:
        raise BadSetting(
            f"covariance={covariance!r} is not known",
            hint=f"choose one of {listed(words)}{BY_LETTERS}",
        )
    return SPOKEN.get(covariance, covariance)


def parameter_count(covariance: str, components: int, width: int) -> int:
    """Return how many free numbers means, shares and covariances of normal classes have.

    >>> parameter_count("VVV", 3, 4), parameter_count("EII", 2, 4)
    (44, 10)
    """
    volume, shape, orientation = tuple(letters_of(covariance))
    k, d = components, width
    found = k * d + k - 1 + (k if volume == "V" else 1)
    found += {"I": 0, "E": d - 1, "V": k * (d - 1)}[shape]
    turns = d * (d - 1) // 2
    return found + {"I": 0, "E": turns, "V": k * turns}[orientation]
