package nodes;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import kafka.api.LeaderAndIsr$;
import kafka.cluster.Broker;
import kafka.cluster.EndPoint;
import kafka.controller.LeaderIsrAndControllerEpoch;
import kafka.controller.ReplicaAssignment;
import kafka.zk.*;
import line.Calls;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.feature.Features;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.common.utils.Sanitizer;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.security.authorizer.AclEntry;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.ProducerIdsBlock;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** What Kafka 3.9 writes to ZooKeeper: samples by name, each as text. */
public final class Nodes {
    private static final Map<String, String> SAMPLES = new LinkedHashMap<>();

    public static void main(String[] arguments) throws Exception {
        topics();
        brokers();
        controller();
        configs();
        notifications();
        acls();
        tokens();
        cluster();
        new Calls().add("samples", call -> SAMPLES).serve();
    }

    private static void topics() {
        Map<TopicPartition, ReplicaAssignment> partitions = new LinkedHashMap<>();
        partitions.put(partition(0), new ReplicaAssignment(ids(1, 2, 3), ids(), ids()));
        partitions.put(partition(1), new ReplicaAssignment(ids(2, 3, 1), ids(3), ids(1)));
        scala.collection.Map<TopicPartition, ReplicaAssignment> assignment =
            CollectionConverters.asScala(partitions);
        Uuid id = Uuid.fromString("NuAYhIlXSqylOKJlVcNPEQ");
        add("topic-v3", TopicZNode$.MODULE$.encode(Option.apply(id), assignment));
        add("topic-v3-no-id", TopicZNode$.MODULE$.encode(Option.empty(), assignment));
        add("state", state(1, LeaderRecoveryState.RECOVERED, 1, 2));
        add("state-recovering", state(-1, LeaderRecoveryState.RECOVERING, 1));
    }

    private static byte[] state(int leader, LeaderRecoveryState recovery, Integer... isr) {
        return TopicPartitionStateZNode$.MODULE$.encode(new LeaderIsrAndControllerEpoch(
            LeaderAndIsr$.MODULE$.apply(leader, 4, ids(isr).toList(), recovery, 0), 9));
    }

    private static void brokers() {
        List<EndPoint> endpoints = List.of(
            endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, "h", 9092),
            endpoint("EXT", SecurityProtocol.SASL_SSL, "h2", 9093),
            endpoint("SIX", SecurityProtocol.PLAINTEXT, "::1", 9094));
        for (int version : new int[] {4, 5}) {
            for (String rack : new String[] {null, "r1"}) {
                add("broker-v" + version + (rack == null ? "" : "-rack"),
                    BrokerIdZNode$.MODULE$.encode(version, "h", 9092,
                        CollectionConverters.asScala(endpoints).toSeq(), -1, Option.apply(rack),
                        Features.emptySupportedFeatures()));
            }
        }
        Broker encrypted = new Broker(7,
            CollectionConverters.asScala(
                List.of(endpoint("SSL", SecurityProtocol.SSL, "h", 9093))).toSeq(),
            Option.empty(), Features.emptySupportedFeatures());
        add("broker-info-ssl-only",
            BrokerInfo.apply(encrypted, MetadataVersion.latestProduction(), 9999).toJsonBytes());
    }

    private static void controller() {
        add("controller", ControllerZNode$.MODULE$.encode(1, 1600000000000L, -1));
        add("controller-epoch", ControllerEpochZNode$.MODULE$.encode(5));
        add("producer-ids", ProducerIdBlockZNode$.MODULE$.generateProducerIdBlockJson(
            new ProducerIdsBlock(1, 1000, 1000)));
    }

    private static void configs() {
        Properties config = new Properties();
        config.setProperty("retention.ms", "5");
        add("config", ConfigEntityZNode$.MODULE$.encode(config));
        add("config-empty", ConfigEntityZNode$.MODULE$.encode(new Properties()));
        add("config-change", ConfigEntityChangeNotificationSequenceZNode$.MODULE$.encode("topics/T"));
        add("config-change-path", ConfigEntityChangeNotificationSequenceZNode$.MODULE$.createPath());
        add("config-path", ConfigEntityZNode$.MODULE$.path("users", "<default>/clients/c%2A"));
        for (String name : List.of("al ice*", "a/b", "ü:+~", "<default>", "%", "a.b-_")) {
            add("sanitize " + name, Sanitizer.sanitize(name));
        }
    }

    private static void notifications() {
        scala.collection.immutable.Set<TopicPartition> one =
            CollectionConverters.asScala(Set.of(partition(0))).toSet();
        add("isr-change", IsrChangeNotificationSequenceZNode$.MODULE$.encode(one));
        add("isr-path", IsrChangeNotificationSequenceZNode$.MODULE$.path("0000000003"));
        add("log-dir-event", LogDirEventNotificationSequenceZNode$.MODULE$.encode(1));
        add("log-dir-path", LogDirEventNotificationSequenceZNode$.MODULE$.path("0000000003"));
        Map<TopicPartition, scala.collection.Seq<Object>> replicas =
            Map.of(partition(0), ids(1, 2));
        add("reassign",
            ReassignPartitionsZNode$.MODULE$.encode(CollectionConverters.asScala(replicas)));
        add("preferred", PreferredReplicaElectionZNode$.MODULE$.encode(one));
    }

    private static void acls() {
        add("acl", acl("User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW));
        add("acl-2", acl("User:b\"é", "h", AclOperation.IDEMPOTENT_WRITE, AclPermissionType.DENY));
        for (ResourceType type : ResourceType.values()) {
            if (type != ResourceType.UNKNOWN && type != ResourceType.ANY) {
                for (PatternType pattern : List.of(PatternType.LITERAL, PatternType.PREFIXED)) {
                    add("acl-path-" + type + "-" + pattern,
                        ResourceZNode$.MODULE$.path(new ResourcePattern(type, "x y é", pattern)));
                }
            }
        }
        add("acl-change-literal", LiteralAclChangeStore$.MODULE$.encode(
            new ResourcePattern(ResourceType.TOPIC, "x", PatternType.LITERAL)));
        add("acl-change-literal-path", LiteralAclChangeStore$.MODULE$.createPath());
        add("acl-change-ext", ExtendedAclChangeStore$.MODULE$.encode(
            new ResourcePattern(ResourceType.TOPIC, "x", PatternType.PREFIXED)));
        add("acl-change-ext-path", ExtendedAclChangeStore$.MODULE$.createPath());
    }

    private static byte[] acl(
        String principal, String host, AclOperation operation, AclPermissionType permission
    ) {
        AclEntry entry =
            new AclEntry(new AccessControlEntry(principal, host, operation, permission));
        return ResourceZNode$.MODULE$.encode(CollectionConverters.asScala(Set.of(entry)).toSet());
    }

    private static void tokens() {
        KafkaPrincipal alice = new KafkaPrincipal("User", "al ice*");
        KafkaPrincipal bob = new KafkaPrincipal("User", "bob");
        add("token", DelegationTokenInfoZNode$.MODULE$.encode(
            new TokenInformation("tid", alice, bob, List.of(bob), 1L, 2L, 3L)));
        add("token-own", DelegationTokenInfoZNode$.MODULE$.encode(
            new TokenInformation("tid", alice, List.of(), 1L, 2L, 3L)));
        add("token-path", DelegationTokenInfoZNode$.MODULE$.path("tid"));
        add("token-change-path", DelegationTokenChangeNotificationSequenceZNode$.MODULE$.createPath());
        add("token-change", DelegationTokenChangeNotificationSequenceZNode$.MODULE$.encode("tid"));
    }

    private static void cluster() {
        add("cluster-id", ClusterIdZNode$.MODULE$.toJson("abc-_def"));
        scala.collection.Map<String, Object> none = CollectionConverters.asScala(Map.of());
        add("feature", FeatureZNode$.MODULE$.encode(
            FeatureZNode$.MODULE$.apply(2, FeatureZNodeStatus.Enabled$.MODULE$, none)));
        add("feature-disabled", FeatureZNode$.MODULE$.encode(
            FeatureZNode$.MODULE$.apply(1, FeatureZNodeStatus.Disabled$.MODULE$, none)));
        add("persistent", ZkData$.MODULE$.PersistentZkPaths().mkString(","));
        add("secure", ZkData$.MODULE$.SecureRootPaths().mkString(","));
        add("sensitive", ZkData$.MODULE$.SensitiveRootPaths().mkString(","));
    }

    private static TopicPartition partition(int number) {
        return new TopicPartition("T", number);
    }

    private static EndPoint endpoint(
        String listener, SecurityProtocol protocol, String host, int port
    ) {
        return new EndPoint(host, port, new ListenerName(listener), protocol);
    }

    private static scala.collection.immutable.Seq<Object> ids(Integer... numbers) {
        return CollectionConverters.asScala(List.<Object>of((Object[]) numbers)).toSeq();
    }

    private static void add(String name, byte[] data) {
        add(name, new String(data, StandardCharsets.UTF_8));
    }

    private static void add(String name, String text) {
        SAMPLES.put(name, text);
    }
}
