"""Records in a real browser: followed live, asked by SQL, sent again, brought in from files."""

import json
from collections.abc import Iterator

import pytest

from browser import Page, browser
from conformance.console_site import EVERY_KAFKA, HOSTILE, Kafka, keep, running_kafka, served
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.producer import Producer

pytestmark = pytest.mark.needs("browser")

TOPICS = ("orders", "bank", "copies", "hostile")
# Gives a look up at its first line, when more have arrived.
_GIVEN_UP = """
(async () => {
  const { lines } = await import("/static/lib.js");
  const stop = new AbortController(), found = [];
  const path = "/api/clusters/local/topics/orders/messages?start=oldest";
  try {
    for await (const line of lines(path, { signal: stop.signal })) {
      found.push(Object.keys(line)[0]);
      stop.abort();
    }
  } catch (error) { found.push(error.name); }
  return found;
})()
"""


@pytest.fixture(scope="module", params=EVERY_KAFKA)
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kafka]:
    """A broker with orders, a transaction that was aborted, and values that attack."""
    with running_kafka(request.param, {}, tmp_path_factory.mktemp("kafka")) as running:
        servers = running.bootstrap_servers
        with Admin(bootstrap_servers=servers) as admin:
            admin.create_topics([NewTopic(name, partitions=1) for name in TOPICS]).check()
        with Producer[bytes, bytes](bootstrap_servers=servers) as producer:
            for number in range(300):
                send_order(producer, number)
            producer.send("hostile", HOSTILE.encode(), key=HOSTILE.encode())
        with Producer[bytes, bytes](bootstrap_servers=servers, transactional_id="bank") as producer:
            for value, is_kept in ((b"paid", True), (b"refused", False)):
                producer.begin_transaction()
                producer.send("bank", value, key=b"anna")
                producer.flush()
                (producer.commit_transaction if is_kept else producer.abort_transaction)()
        yield running


def send_order(producer: Producer[bytes, bytes], number: int) -> None:
    order = {"id": number, "user": f"user-{number * number % 7}", "amount": number % 90}
    producer.send("orders", json.dumps(order).encode(), key=f"order-{number}".encode())


@pytest.fixture(scope="module")
def site(kafka: Kafka) -> Iterator[str]:
    with served(kafka.bootstrap_servers) as url:
        yield f"{url}/c/local"


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture
def page(tab: Page, site: str) -> Iterator[Page]:
    """The tab of all tests; whatever it complains about fails the test."""
    tab.open(site)
    tab.see("Healthy")
    tab.events.clear()
    yield tab
    assert tab.complaints() == []


def test_a_topic_is_followed_and_a_pause_loses_nothing(page: Page, site: str, kafka: Kafka) -> None:
    page.open(f"{site}/topics/orders")
    page.fill("select[name=start]", "live")
    page.click("Look")
    page.see("● live")
    assert page.run("location.search") == "?start=live", "the view is its address"
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(1000, 1040):
            send_order(producer, number)
        producer.flush()
        page.see("40 shown")
        page.see('"id": 1039')
        keep(page, "live")
        page.click("Pause")
        page.see("paused")
        send_order(producer, 2000)
        producer.flush()
        page.click("Resume")
        page.see('"id": 2000')
        page.see("41 shown")
    page.fill("input[name=filter]", "value.id >= 3001")
    page.click("Look")
    page.see("● live")
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in (3000, 3001):
            send_order(producer, number)
    page.see('"id": 3001')
    assert '"id": 3000' not in page.text()


def test_a_topic_is_asked_by_sql(page: Page, site: str) -> None:
    page.open(f"{site}/topics/orders/sql?limit=100000")
    page.see("Ask the records")
    page.click("Run")
    page.see("user-4")
    page.see("The whole topic was read")
    page.wait("document.querySelector('.uplot canvas')", "a chart")
    assert "sql=SELECT" in page.run("location.search"), "the view is its address"
    keep(page, "sql")
    page.run(
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; });"
        " return '#'; }; HTMLAnchorElement.prototype.click = () => {}; 1"
    )
    page.fill("textarea[name=sql]", "SELECT '=1+1' AS a, 2 AS \"@b\"")
    page.click("Run")
    page.wait("document.querySelector('tbody td')?.innerText === '=1+1'", "the result")
    page.click("CSV", "p.exports button")
    page.wait("window.saved", "the file")
    assert page.run("window.saved") == '"a","\'@b"\r\n"\'=1+1","2"\n'
    page.fill("textarea[name=sql]", "SELECT * FROM read_text('/etc/hostname')")
    page.click("Run")
    page.see("disabled by configuration")
    page.events.clear()
    page.open(f'{site}/topics/hostile/sql?sql=SELECT key AS "<img src=x>", value FROM records')
    page.see("<script>document.title=1337")
    assert not page.run("!!document.querySelector('#app img:not(.brand img), #app script')")


def test_aborted_records_and_markers_are_shown_on_a_switch(page: Page, site: str) -> None:
    page.open(f"{site}/topics/bank")
    page.see("paid")
    assert "refused" not in page.text()
    page.run("document.querySelector('input[name=uncommitted]').click()")
    page.click("Look")
    page.see("abort marker")
    page.see("commit marker")
    page.wait("/aborted\\s+refused/.test(document.body.innerText)", "the mark of a record")
    keep(page, "transactions")


def test_a_record_is_changed_and_sent_again(page: Page, site: str) -> None:
    page.open(f"{site}/topics/orders?filter=value.id%20%3D%2017")
    page.see('"id": 17')
    page.run("document.querySelector('tbody button').click()")
    page.click("Read it elsewhere")
    page.see("-t 'orders' -p 0 -o 17 -c 1")
    page.click("Replay…", "dialog button")
    page.fill("dialog input[name=topic]", "copies")
    page.wait("document.querySelector('dialog textarea[name=value]').value.includes('17')")
    keep(page, "replay")
    page.fill("dialog textarea[name=value]", '{"id": 17, "mended": true}')
    page.click("Send it again", "dialog button")
    page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
    page.open(f"{site}/topics/copies")
    page.see('"mended": true')
    page.see("order-17")


def test_records_are_copied_in_bulk_and_brought_in_from_a_file(page: Page, site: str) -> None:
    page.open(f"{site}/topics/orders?filter=value.amount%20%3D%205")
    page.see("That is all there is")
    page.click("Replay all…")
    page.fill("dialog input[name=to]", "copies")
    page.click("Replay", "dialog button.primary")
    page.see("records are written to copies")
    page.open(f"{site}/topics/copies")
    page.see('"amount": 5')
    page.click("Import…")
    page.wait("document.querySelector('dialog input[type=file]')", "the dialog")
    page.run(
        "(() => { const input = document.querySelector('dialog input[type=file]');"
        "const files = new DataTransfer();"
        "files.items.add(new File(['key,value\\na,from a file\\n'], 'more.csv'));"
        "input.files = files.files; input.dispatchEvent(new Event('change', {bubbles: true})) })()"
    )
    page.wait("document.querySelector('dialog select').value === 'csv'", "the format by the name")
    page.click("Import", "dialog button.primary")
    page.see("1 records are written to copies")
    page.run("document.querySelector('dialog').close()")
    page.see("from a file")


def test_a_view_goes_on_after_the_cluster_was_away(page: Page, site: str, kafka: Kafka) -> None:
    page.open(f"{site}/topics/orders?start=live")
    page.see("● live")
    kafka.stop()
    page.see("This page tries again by itself")
    keep(page, "away")
    kafka.start()
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        send_order(producer, 4000)
    page.see('"id": 4000')
    page.wait("!document.body.innerText.includes('This page tries again')", "the banner goes")


def test_a_look_that_was_given_up_shows_nothing_more(page: Page, site: str) -> None:
    page.open(f"{site}/topics/orders")
    first, *rest = page.run(_GIVEN_UP)
    assert (first, rest) == ("row", ["AbortError"])
