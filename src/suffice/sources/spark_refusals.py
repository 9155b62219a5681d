"""What Spark refuses or cannot do, in one sentence and with what to do about it."""

from __future__ import annotations

import re
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from suffice import errors
from suffice.errors import BadRows, BadSetting, SufficeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = frozenset({"pyspark", "py4j", "grpc"})
_ABOUT_PANDAS = "PySpark does not yet fully support pandas"
_SET_PYTHON = (
    "the workers need the driver's Python version with suffice installed: name it by "
    "PYSPARK_PYTHON or spark.pyspark.python before the session starts, or send an environment "
    "along by spark.archives (Connect: addArtifacts(..., archive=True))"
)
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
_NO_MODULE = re.compile(r"No module named '([^']+)'")
_NO_PACKAGE = re.compile(r"PACKAGE_NOT_INSTALLED\]\s*(\S+)")
_OURS = re.compile(r"suffice\.errors\.(\w+): (.+?)(?:\nHint: (.+?))?\s*(?:\n|$)")
_OTHER_PYTHON = re.compile(r"different version: (\S+) than that in driver: ([\d.]*\d)")


@contextmanager
def spark_at_work(name: str) -> Iterator[None]:
    """Turn Spark's failures inside the block into refusals about the source of that name.

    What a worker refused as ours is raised as that.
    """
    with warnings.catch_warnings():
        # Rows travel as Arrow here: whatever pandas is installed has no part in it.
        warnings.filterwarnings("ignore", message=_ABOUT_PANDAS, category=FutureWarning)
        try:
            yield
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _LIBRARIES:
                raise
            refusal = refusal_of(str(error), name)
            if not isinstance(refusal, BadRows) or _OURS.search(str(error)):
                raise refusal from None  # nothing of Spark's own to add
            raise refusal from error


def refusal_of(text: str, name: str) -> SufficeError:
    """Return what a failure of Spark comes to.

    >>> print(refusal_of("... ModuleNotFoundError: No module named 'suffice'", "the rows").problem)
    the workers of Spark have no module 'suffice'
    >>> print(refusal_of("... suffice.errors.NotFinite: row 1, x: inf is …", "the rows").problem)
    row 1, x: inf is …
    """
    if found := _OURS.search(text):
        kind = getattr(errors, found[1], BadRows)
        return cast("SufficeError", kind(found[2], hint=found[3] or "look at the row"))
    if found := _NO_MODULE.search(text) or _NO_PACKAGE.search(text):
        return BadSetting(f"the workers of Spark have no module {found[1]!r}", hint=_SET_PYTHON)
    if found := _NO_PYTHON.search(text):
        return BadSetting(f"the workers of Spark have no Python {found[1]!r}", hint=_SET_PYTHON)
    if found := _OTHER_PYTHON.search(text):
        return BadSetting(
            f"the workers of Spark run Python {found[1]}, and the driver {found[2]}",
            hint=_SET_PYTHON,
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)]
    if raised and any(line.startswith("Traceback") for line in lines):
        said = f"{name}: a worker of Spark failed: {raised[-1]:.300}"
    else:
        said = f"{name} cannot be read: {[*lines, 'Spark does not say why'][0]:.300}"
    return BadRows(said, hint="does frame.count() work? What Spark says in full is above")
