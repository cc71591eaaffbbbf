"""Apache's command lines, one after the other in one virtual machine."""

from typing import NamedTuple

from conformance.apache.jvm import run_main
from conformance.apache.lines import JavaProgram

CLASSES = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer.sh": "kafka.tools.ConsoleProducer",
    "kafka-dump-log.sh": "kafka.tools.DumpLogSegments",
    "kafka-delete-records.sh": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-log-dirs.sh": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-leader-election.sh": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-broker-api-versions.sh": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-cluster.sh": "org.apache.kafka.tools.ClusterTool",
    "kafka-transactions.sh": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-delegation-tokens.sh": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-producer-perf-test.sh": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-consumer-perf-test.sh": "org.apache.kafka.tools.ConsumerPerformance",
}

# Those that read and wrote ZooKeeper; of them 2.1 is the release that tutorials know.
OLDER_CLASSES = {
    "kafka-topics.sh": "kafka.admin.TopicCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-reassign-partitions.sh": "kafka.admin.ReassignPartitionsCommand",
    "kafka-preferred-replica-election.sh": "kafka.admin.PreferredReplicaLeaderElectionCommand",
}


class Ended(NamedTuple):
    """A tool that has ended."""

    code: int
    stdout: str
    stderr: str


def run_older(script: str, *arguments: str) -> Ended:
    """Run a tool of Apache Kafka 2.1, in a virtual machine of its own."""
    done = run_main(OLDER_CLASSES[script], *arguments, jars="kafka-2.1")
    return Ended(done.returncode, done.stdout, done.stderr)


class ApacheTools:
    """Runs tools by the names of their scripts."""

    def __init__(self, program: JavaProgram) -> None:
        self._program = program

    def run(self, script: str, *arguments: str, stdin: str = "") -> Ended:
        answer = self._program.call(
            "run", main=CLASSES[script], arguments=arguments, input=stdin.encode()
        )
        return Ended(answer["code"], answer["stdout"], answer["stderr"])
