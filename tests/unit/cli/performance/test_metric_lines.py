"""Metrics of clients in the layout of Kafka's tools."""

from moldau.cli.performance.metric_lines import consumer_lines, producer_lines


def test_names_have_a_group_and_a_client_and_are_sorted() -> None:
    assert producer_lines({"request-total": 2, "batch-size-avg": 1.5}, "me") == [
        "",
        "Metric Name                                      Value",
        "producer-metrics:batch-size-avg:{client-id=me} : 1.500",
        "producer-metrics:request-total:{client-id=me}  : 2.000",
    ]


def test_metrics_of_consumers_are_in_javas_groups() -> None:
    lines = consumer_lines({"request-total": 2, "fetch-total": 1, "commit-total": 3}, "c")
    assert [line.partition(":{")[0] for line in lines[2:]] == [
        "consumer-coordinator-metrics:commit-total",
        "consumer-fetch-manager-metrics:fetch-total",
        "consumer-metrics:request-total",
    ]
