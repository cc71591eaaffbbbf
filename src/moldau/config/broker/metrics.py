"""Settings of metrics."""

from moldau.config.definition import (
    Area,
    Importance,
    UpdateMode,
    boolean,
    integer,
    listing,
    long,
    string,
)
from moldau.config.rules import at_least


class MetricsConfig(Area):
    """How rates are sampled; reporters are Java classes in Kafka and are not loaded here."""

    metrics_num_samples: int = integer(
        2, "Samples kept for a rate.", at_least(1), importance=Importance.LOW
    )
    metrics_sample_window_ms: int = long(
        30_000, "Length of each.", at_least(1), importance=Importance.LOW
    )
    metrics_recording_level: str = string(
        "INFO", "Least important metrics that are recorded.", importance=Importance.LOW
    )
    metric_reporters: tuple[str, ...] = listing(
        (),
        "Java classes that report metrics; not supported.",
        importance=Importance.LOW,
        update=UpdateMode.CLUSTER_WIDE,
    )
    auto_include_jmx_reporter: bool = boolean(
        True,
        "Deprecated: whether Java's JMX reporter is added; without effect.",
        importance=Importance.LOW,
    )
    kafka_metrics_reporters: tuple[str, ...] = listing(
        (), "Java classes that report broker metrics; not supported.", importance=Importance.LOW
    )
    kafka_metrics_polling_interval_secs: int = integer(
        10, "Interval for those; without effect.", at_least(1), importance=Importance.LOW
    )
    telemetry_max_bytes: int = integer(
        1_048_576,
        "Largest metrics report that a client may push (KIP-714).",
        at_least(1),
        importance=Importance.LOW,
    )
