"""Run the command for a Java class of Kafka (kafka-run-class.sh)."""

from collections.abc import Sequence
from importlib import import_module

from moldau.cli.terminal.daemon import without_script_options
from moldau.cli.terminal.failure import CommandFailed

CLASSES = {
    "kafka.Kafka": "serve",
    "kafka.admin.AclCommand": "acls",
    "kafka.admin.BrokerApiVersionsCommand": "broker_api_versions",
    "kafka.admin.ConfigCommand": "configs",
    "kafka.admin.ConsumerGroupCommand": "consumer_groups",
    "kafka.admin.DeleteRecordsCommand": "delete_records",
    "kafka.admin.DelegationTokenCommand": "delegation_tokens",
    "kafka.admin.LeaderElectionCommand": "leader_election",
    "kafka.admin.LogDirsCommand": "log_dirs",
    "kafka.admin.PreferredReplicaLeaderElectionCommand": "preferred_replica_election",
    "kafka.admin.ReassignPartitionsCommand": "reassign_partitions",
    "kafka.admin.TopicCommand": "topics",
    "kafka.admin.ZooKeeperMainWithTlsSupportForKafka": "zookeeper_shell",
    "kafka.tools.ConsoleConsumer": "console_consumer",
    "kafka.tools.ConsoleProducer": "console_producer",
    "kafka.tools.ConsumerPerformance": "consumer_perf_test",
    "kafka.tools.DumpLogSegments": "dump_log",
    "kafka.tools.GetOffsetShell": "get_offsets",
    "org.apache.kafka.tools.ClusterTool": "cluster",
    "org.apache.kafka.tools.ConsumerPerformance": "consumer_perf_test",
    "org.apache.kafka.tools.DelegationTokenCommand": "delegation_tokens",
    "org.apache.kafka.tools.DeleteRecordsCommand": "delete_records",
    "org.apache.kafka.tools.GetOffsetShell": "get_offsets",
    "org.apache.kafka.tools.LeaderElectionCommand": "leader_election",
    "org.apache.kafka.tools.LogDirsCommand": "log_dirs",
    "org.apache.kafka.tools.ProducerPerformance": "producer_perf_test",
    "org.apache.kafka.tools.TopicCommand": "topics",
    "org.apache.kafka.tools.TransactionsCommand": "transactions",
    "org.apache.kafka.tools.VerifiableConsumer": "verifiable_consumer",
    "org.apache.kafka.tools.VerifiableProducer": "verifiable_producer",
    "org.apache.kafka.tools.consumer.ConsoleConsumer": "console_consumer",
    "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand": "consumer_groups",
    "org.apache.kafka.tools.reassign.ReassignPartitionsCommand": "reassign_partitions",
    "org.apache.zookeeper.ZooKeeperMain": "zookeeper_shell",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain": "zookeeper",
}


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    rest, is_daemon = without_script_options(arguments)
    if not rest:
        raise CommandFailed("USAGE: kafka-run-class.sh classname [opts]")
    name, *options = rest
    if name in ("-h", "--help"):
        print("usage: moldau run-class CLASS [options]\n")
        print("Runs the command for a Java class of Kafka:")
        print("\n".join(f"  {each}" for each in CLASSES))
        return 0
    if name not in CLASSES:
        raise CommandFailed(f"there is no class {name} here; there is: {', '.join(CLASSES)}")
    if is_daemon:
        options = ["-daemon", *options]
    code: int = import_module(f"moldau.cli.{CLASSES[name]}").main(options)
    return code
