"""Models with factors, mixtures, texts, rows without a label, members, clusters: asked over HTTP.

Each question is answered as in Python, or refused in words; never by an error of the server.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import suffice
from tests.serve.asked import served
from tests.serve.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

TALK = [["red", "rose", "thorn"], ["white", "daisy", "field"], ["blue", "iris", "meadow"]]
"""Words of a class each."""
CODES = np.repeat([0, 1, 2], 20)
LABELS = np.array(["a", "b", "c"], dtype=object)[CODES]


def table(*columns: str) -> Any:
    """Return columns of one table: numbers, two of them with blanks, categories, and texts."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=60) + CODES * (j + 1) / 2 for j in range(4)})
    frame.loc[3, "x1"] = frame.loc[30, "x2"] = np.nan
    frame["kind"] = np.array([f"l{(c + rng.integers(2)) % 4}" for c in CODES], dtype=object)
    frame["note"] = np.array([" ".join(rng.choice(TALK[c], 4)) for c in CODES], dtype=object)
    return frame[list(columns)]


def sparsely_labelled() -> Any:
    labels = LABELS.copy()
    labels[::3] = None
    return labels


NUMBERS = ("x0", "x1", "x2", "x3")
WITHOUT_BLANKS = ("x0", "x3")
MIXED = (*NUMBERS, "kind")
KINDS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "components": (lambda: suffice.MixtureDiscriminant(2, "VVI").fit(table(*NUMBERS), LABELS),
                   NUMBERS),
    "factors": (lambda: suffice.GaussianDiscriminant(factors=1).fit(table(*WITHOUT_BLANKS), LABELS),
                WITHOUT_BLANKS),
    "words": (lambda: suffice.NaiveBayes({"note": "words", "x0": "gaussian"})
              .fit(table("x0", "note"), LABELS), ("x0", "note")),
    "bytes": (lambda: suffice.NaiveBayes({"note": "bytes", "x0": "gaussian"})
              .fit(table("x0", "note"), LABELS), ("x0", "note")),
    "some_labels": (lambda: suffice.NaiveBayes(unlabelled=0.5)
                    .fit(table(*MIXED), sparsely_labelled()), MIXED),
    "few_labels": (lambda: suffice.GaussianDiscriminant(unlabelled=0.5)
                   .fit(table(*MIXED), sparsely_labelled()), MIXED),
    "members": (lambda: suffice.Pool(["naive Bayes", "GDA"]).fit(table(*MIXED), LABELS), MIXED),
    "clusters": (lambda: suffice.GaussianMixture(3, "EEE", noise=True)
                 .fit(table(*WITHOUT_BLANKS)), WITHOUT_BLANKS),
    "latent": (lambda: suffice.LatentClasses(3, starts=2).fit(table(*MIXED)), MIXED),
}  # fmt: skip
REFUSED = {
    ("components", "learn"): "depends on the order of rows",
    ("words", "typicality"): "column of texts",
    ("bytes", "typicality"): "column of texts",
    ("members", "typicality"): "cannot say how typical",
    ("members", "sample"): "cannot generate rows",
    ("clusters", "learn"): "its own classes",
    ("latent", "learn"): "its own classes",
}
"""What these models do not have; everything else is answered."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Any, Path]]:
    folder = tmp_path_factory.mktemp("kinds")
    held: dict[str, tuple[Any, Path]] = {}

    def one(kind: str) -> tuple[Any, Path]:
        if kind not in held:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = KINDS[kind][0]()
            path = folder / f"{kind}.suffice"
            model.save(path)
            held[kind] = model, path
        return held[kind]

    return one


def asked_rows(kind: str) -> tuple[Any, list[dict[str, Any]], list[Any]]:
    """Return a few rows as a frame and as records, with labels."""
    frame = table(*KINDS[kind][1]).iloc[::9].reset_index(drop=True)
    plain = frame.astype(object).where(frame.notna(), None)
    return frame, plain.to_dict("records"), LABELS[::9].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_each_question_is_answered_as_in_python_or_refused_in_words(
    kind: str, made: Callable[[str], tuple[Any, Path]], tmp_path: Path
) -> None:
    model, path = made(kind)
    frame, rows, labels = asked_rows(kind)
    place = f"/v1/models/{kind}"

    def refused(what: str, content: Any) -> bool:
        if (kind, what) not in REFUSED:
            return False
        found = ask.post(f"{place}/{what}", content)
        assert found.status in (409, 422)
        assert REFUSED[kind, what] in found.json["detail"]
        return True

    def posterior() -> Any:
        found = ask.post(f"{place}/predict", {"rows": rows})
        assert found.status == 200, found.body
        return np.array(found.json["probabilities"])

    with served(path, state=tmp_path / "state") as ask, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = posterior()
        np.testing.assert_allclose(before, model.predict_proba(frame), rtol=1e-9, atol=1e-12)
        told = ask.post(f"{place}/explain", {"rows": rows}).json["explanations"]
        expected = model.explain(frame)
        for i, one in enumerate(told):
            assert [*one["contributions"]] == [*expected.columns]
            np.testing.assert_allclose(
                [*one["contributions"].values()], expected.contributions[i], rtol=1e-9, atol=1e-9
            )
        if not refused("typicality", {"rows": rows}):
            found = np.array(ask.post(f"{place}/typicality", {"rows": rows}).json["typicality"])
            typical = np.asarray(model.typicality(frame)).reshape(found.shape)
            np.testing.assert_allclose(found, typical, rtol=1e-9, atol=1e-12)
        if not refused("sample", {"size": 5}):
            drawn = ask.post(f"{place}/sample", {"size": 5, "seed": 1})
            assert drawn.status == 200, drawn.body
            assert [*drawn.json["rows"][0]] == [*KINDS[kind][1]]
            again = ask.post(f"{place}/predict", {"rows": drawn.json["rows"]})
            assert len(again.json["predictions"]) == 5
        learns = (kind, "learn") not in REFUSED
        assert ask("GET", place).json["learns"] is learns
        content = {"id": "one", "rows": rows, "labels": labels}
        if learns:
            assert ask.post(f"{place}/learn", content).json["rows"] == len(rows)
            after = suffice.load(path).partial_fit(frame, labels)
            np.testing.assert_allclose(
                posterior(), after.predict_proba(frame), rtol=1e-9, atol=1e-12
            )
            assert np.abs(posterior() - before).max() > 1e-6
            assert ask.post(f"{place}/forget", {"id": "one"}).json["rows"] == len(rows)
        else:
            assert refused("learn", content)
            assert ask.post(f"{place}/forget", {"id": "one"}).status == 409
        np.testing.assert_allclose(posterior(), before, rtol=1e-6, atol=1e-9)
        for address in ("/metrics", "/openapi.json", "/docs", "/v1/models", f"{place}/file"):
            assert ask("GET", address).status == 200
    with served(path, state=tmp_path / "state") as ask:  # once more, from what the state holds
        np.testing.assert_allclose(posterior(), before, rtol=1e-6, atol=1e-9)


@pytest.mark.process
@pytest.mark.slow
def test_a_server_needs_no_library_of_frames(
    made: Callable[[str], tuple[Any, Path]], tmp_path: Path
) -> None:
    """Models that were fitted to frames of pandas, in a process that does not load it."""
    paths = {kind: made(kind)[1] for kind in KINDS}
    server = ServerProcess(*paths.values(), "--state", tmp_path / "state")
    try:
        for kind in paths:
            _, rows, labels = asked_rows(kind)
            asked = {
                "predict": {"rows": rows},
                "explain": {"rows": rows},
                "sample": {"size": 3},
                "typicality": {"rows": rows},
                "learn": {"id": "a", "rows": rows, "labels": labels},
                "forget": {"id": "a"},
            }
            for what, content in asked.items():
                if (kind, "learn" if what == "forget" else what) not in REFUSED:
                    status, told = server.ask("POST", f"/v1/models/{kind}/{what}", content)
                    assert status == 200, (kind, what, told)
        maps = Path(f"/proc/{server.process.pid}/maps")
        if maps.exists():
            assert "/pandas/" not in maps.read_text()
        assert server.stop() == 0
    finally:
        server.kill()
    drawn = subprocess.run(  # commands do not load it either
        [sys.executable, "-m", "suffice.cli", "sample", paths["latent"], "-n", "2"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert len(drawn.stdout.splitlines()) == 3, drawn.stderr


@pytest.mark.parametrize("kind", ["factors", "words", "bytes", "some_labels", "latent"])
def test_files_without_statistics_predict_and_say_what_they_lack(
    kind: str, made: Callable[[str], tuple[Any, Path]], tmp_path: Path
) -> None:
    model, _ = made(kind)
    frame, rows, labels = asked_rows(kind)
    path = tmp_path / f"{kind}.suffice"
    model.save(path, statistics=False)
    with served(path, state=tmp_path / "state") as ask:
        found = ask.post(f"/v1/models/{kind}/predict", {"rows": rows})
        np.testing.assert_allclose(
            found.json["probabilities"], model.predict_proba(frame), rtol=1e-9, atol=1e-12
        )
        content = {"rows": rows, "labels": labels}
        for what in ("learn", "forget"):
            lacking = ask.post(f"/v1/models/{kind}/{what}", content)
            assert lacking.status == 409
            assert ("its own classes" if kind == "latent" else "without its statistics") in (
                lacking.json["detail"]
            )
        typical = ask.post(f"/v1/models/{kind}/typicality", {"rows": rows})
        assert typical.status == 409
        assert "without its statistics" in typical.json["detail"]
