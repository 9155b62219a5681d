"""What is installed is what was tested: the wheel, alone, in a fresh environment."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

CORE = {
    "click", "narwhals", "numpy", "pyarrow", "rich", "scikit-learn", "scipy", "threadpoolctl",
}  # fmt: skip

FIT_AND_PREDICT = """
import suffice
from suffice import GaussianDiscriminant
X = [[0.0, 0.1], [1.0, 0.0], [0.2, 1.0], [3.0, 3.2], [4.0, 3.0], [3.1, 4.0]]
model = GaussianDiscriminant().fit(X, ["a", "a", "a", "b", "b", "b"])
print(*model.predict([[0.5, 0.5], [3.5, 3.5]]))
print(suffice.__file__)
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Return what a command prints, run away from the source tree and without its paths."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, root,
        cwd=folder)  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_its_types_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "suffice/py.typed" in names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"suffice"}
    assert not [name for name in names if "test_" in name or "conftest" in name]


def test_the_wheel_names_its_dependencies_its_licence_and_its_python(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (where,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(where).decode())
    required = metadata.get_all("Requires-Dist") or []
    core = {line.split(">")[0].strip() for line in required if "extra ==" not in line}
    assert core == CORE
    assert {"all", "dev", "fast", "plots", "testing"} <= set(metadata.get_all("Provides-Extra"))
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"


def test_the_wheel_fits_and_predicts_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "clean"
    run(sys.executable, "-m", "venv", home, cwd=tmp_path)
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # The dependencies are borrowed from here, after the new environment's own packages. A line in
    # a .pth file adds a folder without reading the .pth files in it, so an editable install of the
    # source tree stays out.
    library = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
                       cwd=tmp_path).strip())  # fmt: skip
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (library / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")

    predicted, where = run(python, "-W", "error", "-c", FIT_AND_PREDICT, cwd=tmp_path).splitlines()
    assert predicted == "a b"
    assert Path(where).is_relative_to(home)
    assert run(home / "bin" / "suffice", "--version", cwd=tmp_path).startswith("suffice, version ")
