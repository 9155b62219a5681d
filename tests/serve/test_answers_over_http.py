"""What a served model answers is what the model answers, however rows are written."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import suffice
from tests.serve.asked import served
from tests.serve.conftest import ROWS, flowers, numbers

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ["gda", "qda", "naive_bayes", "multinomial", "complement", "bernoulli", "logistic",
         "perceptron", "text", "pool", "mixture"]  # fmt: skip


def rows_for(kind: str) -> tuple[Any, Any]:
    """Return rows as JSON has them, and as the estimator takes them."""
    if kind in ("gda", "naive_bayes", "logistic", "perceptron"):
        rows = [dict(row) for row in ROWS if row["size"] is not None]
        return rows, flowers(rows)
    if kind == "text":
        texts = ["a red rose", "the daisy in the field", ""]
        return texts, texts
    X = numbers()[0][::7]
    if kind in ("multinomial", "complement"):
        X = np.abs(np.round(3 * X))
    if kind == "bernoulli":
        X = (np.abs(np.round(3 * X)) > 2).astype(float)
    return X.tolist(), X


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_predicts_as_it_does_in_python(kind: str, model_files: Path) -> None:
    path = model_files / f"{kind}.suffice"
    rows, given = rows_for(kind)
    model = suffice.load(path)
    with served(path) as ask:
        found = ask.post(f"/v1/models/{kind}/predict", {"rows": rows})
        assert found.status == 200, found.body
        assert found.json["predictions"] == np.asarray(model.predict(given)).tolist()
        if kind == "perceptron":
            assert "probabilities" not in found.json
        else:
            expected = model.predict_proba(given)
            np.testing.assert_allclose(found.json["probabilities"], expected, rtol=1e-9, atol=1e-12)
        told = ask("GET", f"/v1/models/{kind}").json
        assert told["estimator"] == type(model).__name__
        # The file is the one that was given, or becomes one that answers the same.
        again = ask("GET", f"/v1/models/{kind}/file")
        assert again.status == 200


def test_single_rows_at_once_are_each_answered_as_alone(flower_files: tuple[Path, ...]) -> None:
    with served(*flower_files) as ask:
        for name in ("naive_bayes", "gda"):
            path = f"/v1/models/{name}/predict"
            alone = [ask.post(path, {"rows": [row]}).json for row in ROWS]
            bad = {"rows": [{**ROWS[0], "size": "tall"}]}
            together = ask.at_once([("POST", path, {"rows": [row]}) for row in ROWS]
                                   + [("POST", path, bad)])  # fmt: skip
            assert together[-1].status == 422
            assert "tall" in together[-1].json["detail"]
            for one, other in zip(alone, together[:-1], strict=True):
                assert one["predictions"] == other.json["predictions"]
                np.testing.assert_allclose(
                    one["probabilities"], other.json["probabilities"], rtol=1e-12
                )


def test_rows_may_be_records_columns_lists_csv_or_arrow(flower_files: tuple[Path, ...]) -> None:
    import pyarrow as pa

    names = list(ROWS[0])
    columns = {name: [row[name] for row in ROWS] for name in names}
    text = "size,colour,scented\n" + "".join(
        f"{row['size'] or ''},{row['colour'] or ''},{str(row['scented']).lower()}\n" for row in ROWS
    )
    sink = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrow = "application/vnd.apache.arrow.stream"
    with served(flower_files[0]) as ask:
        path = "/v1/models/naive_bayes/predict"
        expected = ask.post(path, {"rows": ROWS}).json
        for body in (
            {"columns": columns},
            ROWS,
            {"rows": [[row[n] for n in names] for row in ROWS]},
        ):
            assert ask.post(path, body).json == expected
        assert ask("POST", path, text.encode(), {"content-type": "text/csv"}).json == expected
        found = ask("POST", path, sink.getvalue(), {"content-type": arrow, "accept": arrow})
        assert found.headers["content-type"] == arrow
        told = pa.ipc.open_stream(found.body).read_all().to_pydict()
        assert told["prediction"] == expected["predictions"]
        assert told["p(daisy)"] == [p[0] for p in expected["probabilities"]]
        as_csv = ask(
            "POST", path, text.encode(), {"content-type": "text/csv", "accept": "text/csv"}
        )
        assert as_csv.body.decode().splitlines()[0] == "prediction,p(daisy),p(rose)"
        # A long body is read another way, and means the same.
        long = ask.post(path, {"rows": ROWS * 600})
        assert long.json["predictions"] == expected["predictions"] * 600
        assert long.json["probabilities"][:8] == pytest.approx(np.array(expected["probabilities"]))


def test_explanations_typicality_and_samples(flower_files: tuple[Path, ...]) -> None:
    with served(*flower_files) as ask:
        model = suffice.load(flower_files[0])
        found = ask.post("/v1/models/naive_bayes/explain?of=rose", {"rows": ROWS[:2]}).json
        for one in found["explanations"]:
            assert one["of"] == "rose"
            total = one["baseline"] + sum(one["contributions"].values())
            assert total == pytest.approx(one["log_odds"])
        typical = ask.post("/v1/models/gda/typicality", {"rows": ROWS[:2]})
        assert typical.json["classes"] == ["daisy", "rose"]
        drawn = ask.post("/v1/models/naive_bayes/sample", {"size": 5, "class": "rose", "seed": 3})
        assert drawn.json["labels"] == ["rose"] * 5
        again = ask.post("/v1/models/naive_bayes/predict", {"rows": drawn.json["rows"]})
        assert len(again.json["predictions"]) == 5
        assert model.classes_.tolist() == again.json["classes"]
        unknown = ask.post("/v1/models/naive_bayes/explain?of=tulip", {"rows": ROWS[:1]})
        assert unknown.status == 422
        assert "tulip" in unknown.json["detail"]


def test_what_a_model_does_not_have_is_refused_in_words(model_files: Path) -> None:
    with served(model_files / "logistic.suffice") as ask:
        row = {"rows": [ROWS[0]]}
        for what in ("typicality", "sample"):
            found = ask.post(f"/v1/models/logistic/{what}", row if what != "sample" else {})
            assert found.status == 409
            assert "logistic is a LogisticRegression" in found.json["detail"]
        assert ask.post("/v1/models/logistic/explain", row).status == 200


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b'{"rows": [{"size": NaN, "colour": "red", "scented": true}]}', 400, "not JSON"),
        (b'{"rows": [{"size": Infinity, "colour": "red", "scented": true}]}', 400, "not JSON"),
        (b'{"rows": [{"size": 1e999, "colour": "red", "scented": true}]}', 400, "not JSON"),
        (b'{"rows": [{"size": "inf", "colour": "red", "scented": true}]}', 422, "not a finite"),
        (b'{"rows": [{"size": 1.5, "scented": true}]}', 422, "no column 'colour'"),
        (b'{"rows": [{"size": {}, "colour": "red", "scented": true}]}', 422, "not a cell"),
        (b'{"rows": []}', 422, "no rows"),
        (b'{"rows": 3}', 422, "not a list"),
        (b'{"rows": [3]}', 422, "not a row"),
        (b'{"rows": [{}], "more": 1}', 422, "'more'"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"rows": [{"size": 1' + b"0" * 400 + b', "colour": "red", "scented": true}]}', 422, ""),
        (b'{"rows": [{"size": 1.5, "colour": "\\ud800", "scented": true}]}', 400, ""),
    ],
)
def test_bad_bodies_are_refused_with_a_reason(
    body: bytes, status: int, said: str, flower_files: tuple[Path, ...]
) -> None:
    with served(flower_files[0]) as ask:
        found = ask("POST", "/v1/models/naive_bayes/predict", body,
                    {"content-type": "application/json"})  # fmt: skip
        assert found.status == status, found.body
        assert found.headers["content-type"] == "application/problem+json"
        told = found.json
        assert said in told["detail"]
        assert told["status"] == status
        assert "Traceback" not in json.dumps(told)


def test_new_categories_and_extra_columns_are_noted(flower_files: tuple[Path, ...]) -> None:
    with served(flower_files[0]) as ask:
        row = {**ROWS[0], "colour": "puce", "shop": 3}
        found = ask.post("/v1/models/naive_bayes/predict", {"rows": [row]})
        assert found.status == 200
        assert "shop" in found.json["notes"][0]
        assert "colour=puce" in found.json["notes"][1]


def test_addresses_methods_and_kinds_that_are_not_there(flower_files: tuple[Path, ...]) -> None:
    with served(flower_files[0]) as ask:
        missing = ask.post("/v1/models/naive_bays/predict", {"rows": ROWS[:1]})
        assert missing.status == 404
        assert "did you mean 'naive_bayes'" in missing.json["hint"]
        assert ask("DELETE", "/v1/models").headers["allow"] == "GET, HEAD"
        path = "/v1/models/naive_bayes/predict"
        assert ask("POST", path, b"x", {"content-type": "text/plain"}).status == 415
        assert ask("POST", path, b"x", {}).status == 415
        plain = ask.post(path, {"rows": ROWS[:1]}, accept="image/png")
        assert plain.status == 406
        assert ask.post(f"{path}?proba=1", {"rows": ROWS[:1]}).status == 422
        without = ask.post(f"{path}?probabilities=false", {"rows": ROWS[:1]}).json
        assert set(without) == {"classes", "predictions"}


def test_records_with_objects_inside_are_rows_of_their_joined_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    ages = np.round(rng.normal(30 + 9 * (np.arange(60) % 2)), 3).tolist()
    rows: list[dict[str, Any]] = [
        {"customer": {"age": age, "plan": "ab"[i % 3 > 1]}, "y": ("yes", "no")[i % 2]}
        for i, age in enumerate(ages)
    ]
    table = tmp_path / "rows.jsonl"
    table.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    path = tmp_path / "nested.suffice"
    suffice.train(table, target="y", model="naive-bayes").save(path)
    asked: list[Any] = [{"customer": row["customer"]} for row in rows[:7]]
    flat = [{f"customer.{name}": cell for name, cell in row["customer"].items()} for row in asked]
    with served(path) as ask:
        predict = "/v1/models/nested/predict"
        expected = ask.post(predict, {"rows": flat})
        assert expected.status == 200, expected.body
        assert ask.post(predict, {"rows": asked}).json == expected.json
        assert ask.post(predict, {"rows": [*asked[:3], *flat[3:]]}).json == expected.json
        assert (
            ask.post(predict, {"rows": asked[:1]}).json["predictions"]
            == (expected.json["predictions"][:1])
        )
        wrong = ask.post(predict, {"rows": [{"customer": {"age": [3], "plan": "a"}}]})
        assert wrong.status == 422
        assert "a list is not a cell" in wrong.json["detail"]
        lacking = ask.post(predict, {"rows": [{"customer": {"age": 3}}]})
        assert lacking.status == 422
        assert "customer.plan" in lacking.json["detail"]
