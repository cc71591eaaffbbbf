"""Apache Kafka's own console clients and performance tools against our broker."""

import json
import re
import subprocess

from conformance.apache.jvm import run_main
from conformance.apache.lines import Json
from conformance.apache.marks import needs_apache
from conformance.apache.tools import ApacheTools
from conformance.our_broker import OurBroker

pytestmark = needs_apache("kafka-3.9")


def test_the_console_producer_and_consumer_pass_lines_on(
    tools: ApacheTools, broker: OurBroker
) -> None:
    lines = "".join(f"key-{number}:line {number}\n" for number in range(50))
    producer = tools.run(
        "kafka-console-producer.sh",
        *("--bootstrap-server", broker.bootstrap, "--topic", "console"),
        *("--property", "parse.key=true", "--property", "key.separator=:"),
        stdin=lines,
    )
    assert producer.code == 0, producer.stderr
    consumer = tools.run(
        "kafka-console-consumer.sh",
        *("--bootstrap-server", broker.bootstrap, "--topic", "console", "--partition", "0"),
        *("--offset", "earliest", "--max-messages", "50"),
        *("--property", "print.key=true", "--property", "key.separator=:"),
    )
    assert consumer.stdout == lines, consumer.stderr


def test_the_performance_producer_reports_every_record_sent(
    tools: ApacheTools, broker: OurBroker
) -> None:
    run = tools.run(
        "kafka-producer-perf-test.sh",
        *("--topic", "performance", "--num-records", "20000", "--record-size", "1000"),
        *("--throughput", "-1", "--producer-props", f"bootstrap.servers={broker.bootstrap}"),
        *("acks=all", "compression.type=lz4"),
    )
    assert "20000 records sent" in run.stdout, run.stderr


def test_verifiable_clients_agree_about_every_record(broker: OurBroker) -> None:
    producer = run_main(
        "org.apache.kafka.tools.VerifiableProducer",
        *("--bootstrap-server", broker.bootstrap, "--topic", "verifiable"),
        *("--max-messages", "500", "--acks", "-1", "--value-prefix", "7"),
    )
    sent = {(each["offset"], each["value"]) for each in events(producer, "producer_send_success")}
    assert sent == {(number, f"7.{number}") for number in range(500)}, producer.stderr
    (summary,) = events(producer, "tool_data")
    assert (summary["sent"], summary["acked"]) == (500, 500)
    consumer = run_main(
        "org.apache.kafka.tools.VerifiableConsumer",
        *("--bootstrap-server", broker.bootstrap, "--topic", "verifiable", "--verbose"),
        *("--group-id", "verifiable", "--max-messages", "500", "--reset-policy", "earliest"),
    )
    read = {(each["offset"], each["value"]) for each in events(consumer, "record_data")}
    assert read == sent, consumer.stderr
    committed = events(consumer, "offsets_committed")
    assert all(each["success"] for each in committed)
    assert committed[-1]["offsets"][0]["offset"] == 500


def events(run: subprocess.CompletedProcess[str], name: str) -> list[Json]:
    """What a verifiable client has said, line by line."""
    told = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return [each for each in told if each["name"] == name]


def test_end_offsets_are_listed(tools: ApacheTools, broker: OurBroker) -> None:
    tools.run(
        "kafka-producer-perf-test.sh",
        *("--topic", "listed", "--num-records", "100", "--record-size", "10"),
        *("--throughput", "-1", "--producer-props", f"bootstrap.servers={broker.bootstrap}"),
    )
    run = tools.run(
        "kafka-get-offsets.sh",
        *("--bootstrap-server", broker.bootstrap, "--topic", "listed"),
    )
    assert run.stdout.strip() == "listed:0:100", run.stderr


def test_the_console_consumer_reads_in_a_group_that_is_then_described(
    tools: ApacheTools, broker: OurBroker
) -> None:
    producer = tools.run(
        "kafka-console-producer.sh",
        *("--bootstrap-server", broker.bootstrap, "--topic", "grouped"),
        stdin="one\ntwo\n",
    )
    assert producer.code == 0, producer.stderr
    consumer = tools.run(
        "kafka-console-consumer.sh",
        *("--bootstrap-server", broker.bootstrap, "--topic", "grouped", "--from-beginning"),
        *("--group", "console", "--max-messages", "2"),
    )
    assert consumer.stdout == "one\ntwo\n", consumer.stderr
    described = tools.run(
        "kafka-consumer-groups.sh",
        *("--bootstrap-server", broker.bootstrap, "--describe", "--group", "console"),
    )
    assert re.search(r"console +grouped +0 +2 +2 +0 ", described.stdout), described
