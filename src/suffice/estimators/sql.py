"""Fitted models as SQL, for databases to answer by themselves."""

from __future__ import annotations

from typing import Any

from suffice.errors import BadSetting
from suffice.sql.scorer import scorer_sql


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    *,
    table: str = "new_rows",
    proba: bool = False,
    scores: bool = False,
) -> str:
    """Return the SELECT that adds a fitted model's answers to every row of a table.

    | setting | default    | meaning                                                             |
    |---------|------------|---------------------------------------------------------------------|
    | dialect | "duckdb"   | duckdb, postgres or spark                                           |
    | table   | "new_rows" | the table, with the columns that the model knows and any others     |
    | proba   | False      | the probability of every class as well, as `p_…`                    |
    | scores  | False      | log p(x, class) too, up to what all classes share, as `score_…`     |

    >>> import duckdb
    >>> from suffice import GaussianDiscriminant
    >>> model = GaussianDiscriminant().fit([[1.0], [2.0], [5.0], [6.0]], list("aabb"))
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE new_rows AS SELECT 3.5 AS x0")
    >>> connection.sql(to_sql(model, proba=True)).fetchall()
    [(Decimal('3.5'), 'a', 0.5, 0.5)]
    """
    if type(model).__name__ == "Perceptron" and proba:
        raise BadSetting("a perceptron has classes, but no probabilities", hint="leave proba out")
    state = model.stored(statistics=False).state
    chosen = state.get("chosen")
    return scorer_sql(
        state["model"],
        state["columns"],
        dialect=dialect,
        table=table,
        proba=proba,
        scores=scores,
        families=chosen["asked"] if isinstance(chosen, dict) else None,
    )
