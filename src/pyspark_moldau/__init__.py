"""Found by Spark, which looks for installed packages of such names: `format("moldau")`."""

from moldau.spark.source import MoldauDataSource as DefaultSource

__all__ = ["DefaultSource"]
