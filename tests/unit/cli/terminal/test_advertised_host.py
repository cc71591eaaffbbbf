"""The address that clients are sent to, by `--advertised-host`."""

from moldau.cli.terminal.advertised_host import advertised


def test_every_listener_keeps_its_name_and_port() -> None:
    listeners = "PLAINTEXT://:9092, SSL://10.0.0.1:9093,INSIDE://[::1]:0"
    assert advertised(listeners, "kafka.example.org") == (
        "PLAINTEXT://kafka.example.org:9092,SSL://kafka.example.org:9093,"
        "INSIDE://kafka.example.org:0"
    )


def test_an_ipv6_address_is_put_into_brackets() -> None:
    assert advertised("PLAINTEXT://:9092", "fd00::1") == "PLAINTEXT://[fd00::1]:9092"
