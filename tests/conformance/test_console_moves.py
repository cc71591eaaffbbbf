"""Many partitions are spread over brokers in a real browser: planned, slowed down, cancelled."""

from collections.abc import Iterator

import pytest

from browser import Page, browser
from conformance.console_site import keep, served, too_wide
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer
from moldau.testing.cluster import RunningCluster, running_cluster
from unit.connect.started import until

pytestmark = pytest.mark.needs("browser")

RECORDS, SIZE = 40, 100_000
PARTITIONS = 4


@pytest.fixture
def cluster() -> Iterator[RunningCluster]:
    """Two brokers, of which one has all: 4 MB in each of four partitions."""
    with running_cluster(2) as running:
        running.create_topic("crowded", replicas=dict.fromkeys(range(PARTITIONS), (0,)))
        with Producer(bootstrap_servers=running.bootstrap_servers) as producer:
            for at in range(RECORDS * PARTITIONS):
                producer.send("crowded", bytes([at % 251]) * SIZE, partition=at % PARTITIONS)
            producer.flush()
        yield running


@pytest.fixture
def page(cluster: RunningCluster) -> Iterator[Page]:
    with served(cluster.bootstrap_servers) as url, browser() as tab:
        tab.open(f"{url}/c/local/reassignments")
        tab.see("Nothing moves")
        yield tab
        assert tab.complaints() == []


def plan(page: Page) -> None:
    page.click("Spread partitions…")
    page.wait("document.querySelector('dialog input[name=topics]')", "the dialog")
    page.fill("dialog input[name=topics]", "crowded")
    page.click("Show the plan")
    page.see("2 partitions change, 7.6")


def places(cluster: RunningCluster) -> list[list[int]]:
    with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        return [each.replicas for each in admin.describe_topics("crowded")["crowded"].partitions]


def test_many_partitions_move_slowly_are_cancelled_and_then_moved(
    page: Page, cluster: RunningCluster
) -> None:
    plan(page)
    page.wait("document.querySelector('dialog table').innerText.includes('4 → 2')", "its effect")
    keep(page, "spread")
    page.fill("dialog input[name=rate]", "0.05")
    page.click("Move 2 partitions")
    page.see("2 partitions move")
    page.see("Copying is slowed down")
    page.wait(
        "document.querySelector('progress[aria-label=\"Copied in all\"]').value > 0", "progress"
    )
    keep(page, "moving")
    assert sorted(map(len, places(cluster))) == [1, 1, 2, 2], "under way"
    page.click("Cancel all…")
    page.click("Cancel the moves")
    page.see("Nothing moves")
    until(lambda: places(cluster) == [[0]] * PARTITIONS, lambda: places(cluster))
    page.see("Nothing moves now: what is left of a throttle")
    page.click("Take the throttles away…")
    page.click("Take away", "dialog button")
    page.wait("!document.body.innerText.includes('Copying is slowed down')", "no throttle")
    plan(page)
    page.click("Move 2 partitions")
    page.wait("!document.querySelector('dialog[open]')", "the moves have begun")
    until(lambda: sorted(places(cluster)) == [[0], [0], [1], [1]], lambda: places(cluster))
    page.see("Nothing moves")
    page.click("Spread partitions…")
    page.click("Show the plan")
    page.see("All is spread evenly: nothing to move.")


def test_the_plan_fits_on_a_phone(page: Page) -> None:
    page.resize(380, 740)
    plan(page)
    page.run("document.querySelector('dialog details').open = true")
    inside = (
        "[...document.querySelectorAll('dialog, dialog *')].every((each) =>"
        " each.closest('.table') || each.getBoundingClientRect().right <= 380)"
    )
    page.wait(inside, "a plan that fits")
    assert too_wide(page, 380) == []
