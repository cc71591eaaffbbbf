"""Topics as a source of Spark: `spark.read.format("moldau")`, with the options of Spark's own."""
