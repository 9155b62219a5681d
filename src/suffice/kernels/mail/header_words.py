r"""The words of a header, each with the name of its field, in the way that suits the size.

head   bytes of a header in UTF-8; a line that begins with a space goes on with the one before
"""

from __future__ import annotations

import numpy as np

from suffice.kernels.compilation import pays
from suffice.kernels.mail import header_words_python

_ALONE = np.empty(0, np.uint8)
"""What one message counts for: only where it is part of much mail do compiled loops pay."""


class Rules:
    """What stands for the names of fields, as pairs (name, prefix), of which the first one counts.

    A name that ends in `*` stands for all names that begin so; a field whose prefix is empty is
    left out. All other fields have their name as prefix. Rules are known by what they are, not by
    what they hold, since they are looked up for every field.
    """

    __slots__ = ("pairs",)

    def __init__(self, *pairs: tuple[bytes, bytes]) -> None:
        self.pairs = pairs


def header_words(head: bytes, rules: Rules) -> tuple[bytes, bool]:
    r"""Return the words in lower case, and whether there are lines that belong to no field.

    >>> header_words(b"To: You@example.com,\n bob\nX-Spam: no", Rules((b"x-spam*", b"")))
    (b' to_you to_example_com to_bob', False)
    """
    if pays(_ALONE):
        from suffice.kernels.mail import header_words_numba

        return header_words_numba.header_words(np.frombuffer(head, np.uint8), rules)
    return header_words_python.header_words(head, rules)
