"""Apache's command lines, one after the other in one virtual machine."""

from typing import NamedTuple

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


class Ended(NamedTuple):
    """A tool that has ended."""

    code: int
    stdout: str
    stderr: str


class ApacheTools:
    """Runs tools by the names of their scripts."""

    def __init__(self, program: JavaProgram) -> None:
        self._program = program

    def run(self, script: str, *arguments: str, stdin: str = "") -> Ended:
        answer = self._program.call(
            "run", main=CLASSES[script], arguments=arguments, input=stdin.encode()
        )
        return Ended(answer["code"], answer["stdout"], answer["stderr"])
