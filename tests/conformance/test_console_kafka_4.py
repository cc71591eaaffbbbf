"""What Kafka 4 has and others lack, in a real browser: share groups, features of a cluster."""

import socket
import struct
from collections.abc import Iterator

import pytest

from browser import Page, browser
from conformance.apache.kraft import kraft_broker
from conformance.apache.marks import needs_apache
from conformance.console_site import served
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.model import TopicPartition
from moldau.testing.broker import running_broker

pytestmark = pytest.mark.needs("browser")

_SHARE_GROUP_HEARTBEAT, _VERSION = 76, 1
_MEMBER = "AAAAAAAAAAAAAAAAAAAAAg"
HEARTBEATS_MAX = 1_000


def heartbeat(address: str, group: str) -> None:
    """One member of a share group, which no client of ours can be: it reads topic `t`."""
    host, port = address.split(":")
    header = struct.pack(">hhih", _SHARE_GROUP_HEARTBEAT, _VERSION, 1, -1) + b"\0"
    begun = _compact(group) + _compact(_MEMBER) + struct.pack(">i", 0)
    body = begun + b"\0" + b"\2" + _compact("t") + b"\0"  # no rack, one topic, no tags
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(struct.pack(">i", len(header + body)) + header + body)
        assert connection.recv(4)


def _compact(text: str) -> bytes:
    return bytes([len(text) + 1]) + text.encode()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A console for a broker with a share group."""
    directory = tmp_path_factory.mktemp("kraft") / "broker"
    with kraft_broker(directory, jars="kafka-4") as kafka:
        with Admin(bootstrap_servers=kafka.bootstrap) as admin:
            admin.update_features({"share.version": 1}).check()
            admin.create_topics([NewTopic("t", 1, 1)]).check()
            admin.describe_groups("sharing")  # its coordinator is there from then on
            for _ in range(HEARTBEATS_MAX):
                heartbeat(kafka.bootstrap, "sharing")
                if admin.list_groups(types=["share"]):
                    break
        with served(kafka.bootstrap) as url, browser() as tab:
            tab.open(f"{url}/c/local/groups?type=share")
            yield tab
            assert tab.complaints() == []


@needs_apache("kafka-4")
def test_a_share_group_is_listed_and_looked_at(page: Page) -> None:
    page.wait("document.querySelector('main select')?.value === 'share'", "the type")
    page.wait("location.reload() || document.querySelector('tbody a')", "the group")
    page.click("sharing")
    page.see("A share group.")
    page.wait("/Stable|Empty/.test(document.body.innerText)", "its state")
    page.see("kafka-share-groups.sh")
    assert "Reset offsets" not in page.text()


@needs_apache("kafka-4")
def test_brokers_are_like_4_1_and_features_have_names(page: Page) -> None:
    page.click("Brokers")
    page.see("4.1")
    page.see("share.version")
    page.see("3.3-IV3 to 4.1-IV1")
    assert "protocol" not in page.text()
    page.click("Overview")
    page.see("Brokers are like Kafka 4.1; metadata version 4.1-IV1")


def test_a_cluster_without_share_groups_is_said_to_have_none() -> None:
    with running_broker() as kafka, served(kafka.bootstrap_servers) as url, browser() as tab:
        with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("t", 1, 1)]).check()
            admin.alter_group_offsets("billing", {TopicPartition("t", 0): 0}).check()
        tab.open(f"{url}/c/local/groups")
        tab.see("billing")
        choose(tab, "share")
        tab.see("This cluster has no share groups.")
        assert tab.run("location.search") == "?type=share", "the view is its address"
        choose(tab, "classic")
        tab.see("billing")
        assert "share groups" not in tab.text()
        assert tab.complaints() == []


def choose(tab: Page, kind: str) -> None:
    tab.run(
        f"document.querySelector('main select').value = '{kind}';"
        "document.querySelector('main select').dispatchEvent(new Event('change'))"
    )
