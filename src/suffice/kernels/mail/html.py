"""What an HTML page shows and what its tags say, in the way that suits the size.

page   bytes of a page, in any charset that leaves ASCII as it is

The text is what lies between the tags: scripts, style sheets and comments are left out, tags that
part words become a space, others nothing. The facts are names of tags (`font`) and attributes worth
keeping (`color=red`), in lower case, each once, in the order in which they come.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from suffice.kernels.compilation import pays
from suffice.kernels.mail import html_python as markup_python

FACTS: Final = 400
"""Facts of a page that are kept."""

_ALONE = np.empty(0, np.uint8)
"""What one message counts for: only where it is part of much mail do compiled loops pay, since a
stranger who sends one large message should not make anyone wait for a compiler."""


def page_text(page: bytes) -> tuple[bytes, bytes]:
    r"""Return the text of a page, and its facts, one a line.

    >>> page_text(b'<p>Buy vi<!-- x -->agra<br>now, <font color="Red">cheap</font>')
    (b' Buy viagra now, cheap', b'p\nbr\nfont\ncolor=red\n')
    """
    if pays(_ALONE):
        from suffice.kernels.mail import html_numba as markup_numba

        return markup_numba.page_text(np.frombuffer(page, np.uint8), FACTS)
    return markup_python.page_text(page, FACTS)
