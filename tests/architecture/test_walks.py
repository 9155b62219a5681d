"""Who reads what one call does does not walk through more files than today."""

from __future__ import annotations

import pytest

from benchmarks.walks import MOST, walks


@pytest.mark.slow
def test_walks_go_through_no_more_files_than_today() -> None:
    found = walks()
    assert found.keys() == MOST.keys()
    assert {name: files for name, files in found.items() if len(files) > MOST[name]} == {}
    assert {"rows/tables.py", "models/gaussian/family.py"} < set(
        found["GaussianDiscriminant().fit"]
    )
