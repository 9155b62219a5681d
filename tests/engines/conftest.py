"""What the tests of engines may ask for: see the modules it comes from."""

from tests.engines.clusters import any_dask, any_spark, connect, dask_cluster, spark, spark_port
from tests.engines.sql_servers import any_database, duckdb, postgres, postgres_server

__all__ = [
    "any_dask",
    "any_database",
    "any_spark",
    "connect",
    "dask_cluster",
    "duckdb",
    "postgres",
    "postgres_server",
    "spark",
    "spark_port",
]
