"""What the tests of engines may ask for: see the modules it comes from."""

from tests.engines.clusters import any_dask, any_spark, connect, dask_cluster, spark, spark_port

__all__ = ["any_dask", "any_spark", "connect", "dask_cluster", "spark", "spark_port"]
