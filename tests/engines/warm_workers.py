"""What Spark's workers are forked from: a process that has imported already what all of them need.

Workers come and go: one is killed by a test, others after a minute without work, and each would
spend seconds on imports. It is `spark.python.daemon.module` that names this module.
"""

from contextlib import suppress
from importlib import import_module

from pyspark.daemon import manager

NEEDED = (
    "pyarrow",
    "sklearn.base",
    "suffice.estimators.gaussian_discriminant",
    "suffice.estimators.linear.logistic_regression",
    "suffice.estimators.naive_bayes",
    "suffice.sources.spark_tasks",
)

if __name__ == "__main__":
    for name in NEEDED:
        with suppress(ImportError):  # workers without it are to say so themselves
            import_module(name)
    manager()
