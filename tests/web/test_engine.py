"""The engine in JavaScript answers as Python does: `node --test`, with vectors written here."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from suffice.web.scripts import EXPORT, IMPORT, bundled, read
from tests.web.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_LINES = 400
"""Lines of one module, as of one file in Python."""


@pytest.fixture(scope="session")
def node(require: Callable[[object, str], None]) -> str:
    found = shutil.which("node")
    require(found, "Node.js is not installed")
    return str(found)


@pytest.mark.slow
def test_the_engine_answers_as_python_does(node: str, root: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples, and classes of no prior
        held = vectors()
    place = tmp_path / "vectors.json"
    place.write_text(json.dumps(held, allow_nan=False), "utf-8")
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", str(root / "tests/web/engine.test.mjs")],
        capture_output=True, text=True, env={"SUFFICE_VECTORS": str(place)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "pass 97" in done.stdout  # none is left out


def test_modules_are_short_and_import_and_export_in_the_one_way_that_is_bundled(
    root: Path,
) -> None:
    folder = root / "src/suffice/web"
    modules = list(folder.rglob("*.js"))
    assert len(modules) > 15
    for path in modules:
        source = path.read_text("utf-8")
        assert len(source.splitlines()) <= MOST_LINES, path
        assert source.count("\nimport ") + source.startswith("import ") == len(
            IMPORT.findall(source)
        ), path
        assert source.count("\nexport ") == len(EXPORT.findall(source)), path
        # A line of a template that looks like a comment would be lost.
        assert "innerHTML" not in source, path


def test_a_bundle_is_a_script_that_runs(node: str, tmp_path: Path) -> None:
    place = tmp_path / "bundle.js"
    last = "engine_models"
    place.write_text(
        bundled("engine/models.js") + f"console.log(Object.keys({last}).sort().join());", "utf-8"
    )
    done = subprocess.run([node, str(place)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "answer,lawFrom,openModel", done.stderr
    assert read("engine/models.js").count("@param") > 5
    assert "@param" not in bundled("engine/models.js")


def test_numbers_of_seven_bits_are_read_again(node: str, root: Path) -> None:
    import base64
    import zlib

    from suffice.web.text_counts import seven_bits

    rng = np.random.default_rng(0)
    values = np.append(rng.integers(0, 2 ** rng.integers(1, 49, 500)), [0, 127, 128, 2**48 - 1])
    held = base64.b64encode(zlib.compress(seven_bits(values.astype(np.uint64)), 9)).decode("ascii")
    script = (
        f'import {{ inflated, unpacked }} from "{root}/src/suffice/web/engine/tables/packed.js";'
        f'console.log(JSON.stringify([...unpacked(await inflated("{held}"), {len(values)})]));'
    )
    done = subprocess.run(
        [node, "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == values.tolist()
