"""What a Spark session must be set to for topologies."""

SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Spark refuses a chain of stateful steps in update mode, since with watermarks it could give
    # wrong results. In topologies one step of a chain has a watermark, which compiling checks.
    "spark.sql.streaming.unsupportedOperationCheck": "false",
    "spark.sql.session.timeZone": "UTC",
}
