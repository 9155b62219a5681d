"""A model to try things with: tumours, benign or malignant, from scikit-learn's data."""

from __future__ import annotations

from suffice.serve.serving import ModelFile

NAME = "tumours"
"""What the model of the demo is called."""


def demo_file() -> ModelFile:
    """Return the model file of the built-in data, as `suffice fit` would write it."""
    from sklearn.datasets import load_breast_cancer

    from suffice.estimators.gaussian_discriminant import GaussianDiscriminant
    from suffice.rows.tables import table_of_array
    from suffice.sources.arrow_frames import frame_of
    from suffice.storage.model_file import model_bytes

    data = load_breast_cancer()
    rows = frame_of(table_of_array(data.data, tuple(map(str, data.feature_names))))
    model = GaussianDiscriminant().fit(rows, data.target_names[data.target])
    return ModelFile(NAME, model_bytes(model.stored()), "the built-in data")
