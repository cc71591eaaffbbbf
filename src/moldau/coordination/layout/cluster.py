"""The cluster as a whole: its id, and the features that are finalized."""

from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, encode

ID_PATH = "/cluster/id"
FEATURE_PATH = "/feature"


def encode_cluster_id(cluster_id: str) -> bytes:
    # The version is a text here, and a number everywhere else.
    return encode({"version": "1", "id": cluster_id})


def decode_cluster_id(data: bytes) -> str:
    return Document.decode(data).text("id")


@dataclass(frozen=True, slots=True)
class FeatureNode:
    """`/feature`: written by controllers from 2.7 on."""

    is_enabled: bool
    version: int = 2
    """1 for brokers before 3.3."""
    finalized: tuple[str, ...] = ()
    """Their names; no Kafka with ZooKeeper has ever had any, so they are only read."""

    def encode(self) -> bytes:
        assert not self.finalized
        return encode({"features": {}, "version": self.version, "status": int(self.is_enabled)})


def decode_features(data: bytes) -> FeatureNode:
    document = Document.decode(data)
    finalized = document.mapping_or_empty("features").names()
    return FeatureNode(document.integer("status") == 1, document.integer("version"), finalized)
