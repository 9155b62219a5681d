"""Real clusters on this machine, each started once and only for the tests that ask for it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOCAL = "127.0.0.1"


def _free_port() -> int:
    with socket.socket() as held:
        held.bind((LOCAL, 0))
        return int(held.getsockname()[1])


@pytest.fixture(scope="session")
def spark_port() -> int:
    """Return the port of the session's Connect server."""
    return _free_port()


@pytest.fixture(scope="session")
def spark(
    require: Callable[[object, str], None],
    root: Path,
    spark_port: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Any]:
    """Return a classic session on two cores, which serves Connect as well: one JVM for all tests.

    A task that fails is tried again, as on a cluster.
    """
    require(shutil.which("java"), "Spark needs a Java runtime: openjdk-17-jre-headless")
    require(find_spec("pyspark"), "Spark needs pyspark: pip install 'suffice[spark]'")
    folder = tmp_path_factory.mktemp("spark")
    environment = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # Workers run what is tested, and not what is installed.
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
        "SPARK_LOCAL_IP": LOCAL,
        "SPARK_LOCAL_DIRS": str(folder),
    }
    from pyspark.sql import SparkSession

    _connect_sessions()  # before anything else imports a half of it, and fails at that warning
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": LOCAL,
        "spark.driver.bindAddress": LOCAL,
        "spark.sql.shuffle.partitions": "2",
        "spark.python.daemon.module": "tests.engines.warm_workers",
        # Queries of a few hundred rows: to plan them twice or compile them takes longer than they.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": LOCAL,
        "spark.connect.grpc.binding.port": str(spark_port),
        # Little is run twice: the first compiler is enough, and starts sooner.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[2, 2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:  # the JVM takes it along, and nobody else
        for name, value in environment.items():
            patch.setenv(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
        _end_of_java()


def _connect_sessions() -> Any:
    """Return what makes sessions of Connect."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        from pyspark.sql.connect.session import SparkSession

    return SparkSession


def _end_of_java() -> None:
    """End the JVM that the session ran in, and wait for it."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        SparkContext._gateway = SparkContext._jvm = None
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM ends with its input
        gateway.proc.wait(timeout=60)


@pytest.fixture(scope="session")
def connect(spark: Any, spark_port: int) -> Iterator[Any]:
    """Return a Connect session: the same Spark by way of its server, without a JVM's objects."""
    session = _connect_sessions().builder.remote(f"sc://{LOCAL}:{spark_port}").create()
    yield session
    session.stop()


@pytest.fixture(scope="session", params=["classic", "connect"])
def any_spark(request: pytest.FixtureRequest) -> Any:
    """Return each kind of session in turn."""
    return request.getfixturevalue({"classic": "spark", "connect": "connect"}[request.param])


@pytest.fixture(scope="session")
def dask_cluster(
    require: Callable[[object, str], None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Return a cluster of two Dask processes."""
    require(find_spec("distributed"), "Dask needs distributed: pip install 'suffice[dask]'")
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=f"{LOCAL}:0",  # any free port; with None it is a fixed one
        host=LOCAL,
        silence_logs=50,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as cluster:
        yield cluster


@pytest.fixture(params=["threads", "cluster"])
def any_dask(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test under each scheduler of Dask in turn."""
    if request.param == "threads":
        yield "threads"
        return
    from distributed import Client

    with Client(request.getfixturevalue("dask_cluster")):
        yield "cluster"
