"""Bodies as clients of KServe, Triton and MLflow write them; tried with these clients as well."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.serve.asked import served
from tests.serve.conftest import ROWS

if TYPE_CHECKING:
    from pathlib import Path

INFER = "/v2/models/naive_bayes/infer"


def tensors(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kinds = {"size": "FP64", "colour": "BYTES", "scented": "BOOL"}
    return [
        {"name": name, "shape": [len(rows), 1], "datatype": kind, "data": [r[name] for r in rows]}
        for name, kind in kinds.items()
    ]


def test_the_open_inference_protocol(flower_files: tuple[Path, ...]) -> None:
    with served(*flower_files) as ask:
        for path in ("live", "ready"):
            assert ask("GET", f"/v2/health/{path}").status == 200
        assert ask("GET", "/v2/models/naive_bayes/ready").status == 200
        told = ask("GET", "/v2/models/naive_bayes").json
        assert [one["name"] for one in told["inputs"]] == ["size", "colour", "scented"]
        assert [one["datatype"] for one in told["inputs"]] == ["FP64", "BYTES", "BOOL"]
        expected = ask.post("/v1/models/naive_bayes/predict", {"rows": ROWS}).json
        found = ask.post(INFER, {"id": "7", "inputs": tensors(ROWS)}).json
        assert (found["model_name"], found["id"]) == ("naive_bayes", "7")
        labels, posterior = found["outputs"]
        assert labels["data"] == expected["predictions"]
        assert posterior["shape"] == [8, 2]
        np.testing.assert_allclose(
            np.array(posterior["data"]).reshape(8, 2), expected["probabilities"]
        )
        only = ask.post(INFER, {"inputs": tensors(ROWS), "outputs": [{"name": "predict"}]}).json
        assert [one["name"] for one in only["outputs"]] == ["predict"]


def test_tensors_may_follow_as_bytes(flower_files: tuple[Path, ...]) -> None:
    rows = ROWS[:2]
    size = np.array([row["size"] for row in rows]).tobytes()
    texts = [row["colour"].encode() for row in rows]
    colour = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    scented = bytes([row["scented"] for row in rows])
    inputs = tensors(rows)
    for one, data in zip(inputs, (size, colour, scented), strict=True):
        del one["data"]
        one["parameters"] = {"binary_data_size": len(data)}
    header = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}}).encode()
    with served(flower_files[0]) as ask:
        headers = {"inference-header-content-length": str(len(header))}
        found = ask("POST", INFER, header + size + colour + scented, headers)
        assert found.headers["content-type"] == "application/octet-stream"
        at = int(found.headers["inference-header-content-length"])
        told = json.loads(found.body[:at])
        sizes = [one["parameters"]["binary_data_size"] for one in told["outputs"]]
        assert sum(sizes) == len(found.body) - at
        posterior = np.frombuffer(found.body[-sizes[1] :]).reshape(2, 2)
        expected = ask.post("/v1/models/naive_bayes/predict", {"rows": rows}).json
        np.testing.assert_allclose(posterior, expected["probabilities"])
        for cut in (1, len(scented) + 1):  # bytes that are missing
            assert (
                ask("POST", INFER, (header + size + colour + scented)[:-cut], headers).status == 400
            )


def test_one_tensor_of_all_columns(model_files: Path) -> None:
    with served(model_files / "qda.suffice") as ask:
        rows = [[0.1, 0.2, 0.3], [2.0, 1.5, 2.5]]
        one = {"name": "input-0", "shape": [2, 3], "datatype": "FP64", "data": [*rows[0], *rows[1]]}
        found = ask.post("/v2/models/qda/infer", {"inputs": [one]}).json
        expected = ask.post("/v1/models/qda/predict", {"rows": rows}).json
        assert found["outputs"][0]["datatype"] == "INT64"
        assert found["outputs"][0]["data"] == expected["predictions"]


@pytest.mark.parametrize(
    "inputs",
    [
        [], [3], [{"name": "size"}],
        [{"name": "size", "shape": [2, 1], "datatype": "FP64", "data": [1.0]}],
        [{"name": "size", "shape": [-1], "datatype": "FP64", "data": [1.0]}],
        [{"name": "size", "shape": [1], "datatype": "COMPLEX", "data": [1.0]}],
        [{"name": "size", "shape": [1], "datatype": "FP64",
          "parameters": {"binary_data_size": 800}}],
    ],
)  # fmt: skip
def test_tensors_that_are_none_are_refused(
    inputs: list[Any], flower_files: tuple[Path, ...]
) -> None:
    with served(flower_files[0]) as ask:
        found = ask.post(INFER, {"inputs": inputs})
        assert found.status == 400
        assert found.json["error"] == found.json["detail"]


def test_mlflow(flower_files: tuple[Path, ...]) -> None:
    names = list(ROWS[0])
    cells = [[row[name] for name in names] for row in ROWS]
    with served(*flower_files) as ask:
        expected = ask.post("/v1/models/naive_bayes/predict", {"rows": ROWS}).json["predictions"]
        for body in (
            {"dataframe_split": {"columns": names, "data": cells, "index": [*range(8)]}},
            {"dataframe_records": ROWS},
            {"instances": cells},
            {"inputs": {name: [row[name] for row in ROWS] for name in names}},
        ):
            assert ask.post("/invocations", body).json == {"predictions": expected}
        assert ask("GET", "/ping").status == 200
        assert ask("GET", "/version").body.decode() == __import__("suffice").__version__
        for bad in ({}, [], {"instances": 3}, {"instances": cells, "inputs": cells},
                    {"dataframe_split": {"columns": ["size"], "data": cells}}):  # fmt: skip
            assert ask.post("/invocations", bad).status in (400, 422)
