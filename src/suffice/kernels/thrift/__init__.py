"""Thrift's compact protocol, in which the ends of Parquet files are written."""
