"""The console in a real browser: what people do with it, by hand and by keyboard."""

import json
from collections.abc import Iterator

import pytest

from browser import Page, browser
from conformance.console_site import (
    EVERY_KAFKA,
    HOSTILE,
    LONG_NAME,
    Kafka,
    keep,
    running_kafka,
    served,
    too_wide,
    violations,
)
from moldau.client.admin.topics import NewTopic
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.consumer import Consumer
from moldau.client.blocking.producer import Producer
from moldau.model import TopicPartition

LONG = (LONG_NAME * 4)[:249]
"""As long as a name of a topic may be."""

pytestmark = pytest.mark.needs("browser")


@pytest.fixture(scope="module", params=EVERY_KAFKA)
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kafka]:
    """A broker with orders, a group that is behind, and names that attack."""
    with running_kafka(request.param, {}, tmp_path_factory.mktemp("kafka")) as running:
        servers = running.bootstrap_servers
        with Admin(bootstrap_servers=servers) as admin:
            topics = [
                NewTopic("orders", partitions=3),
                NewTopic("payments", partitions=6, configs={"retention.ms": "3600000"}),
                NewTopic("hostile", partitions=1),
                NewTopic(LONG, partitions=1),
            ]
            admin.create_topics(topics).check()
            fill(servers)
            offsets = {TopicPartition("orders", each): 5 for each in range(3)}
            admin.alter_group_offsets("billing", offsets).check()
            admin.alter_group_offsets(HOSTILE, {TopicPartition("hostile", 0): 0}).check()
            admin.alter_group_offsets(LONG, {TopicPartition(LONG, 0): 0}).check()
        yield running


@pytest.fixture(scope="module")
def site(kafka: Kafka) -> Iterator[str]:
    with served(kafka.bootstrap_servers) as url:
        yield f"{url}/c/local"


def fill(servers: str) -> None:
    with Producer(bootstrap_servers=servers) as producer:
        for number in range(300):
            order = {"id": number, "user": f"user-{number % 7}", "big": 9007199254740993}
            key = f"order-{number % 50}".encode()
            producer.send("orders", json.dumps(order).encode(), key=key, timestamp_ms=None)
        producer.send("hostile", HOSTILE.encode(), key=HOSTILE.encode(), headers=[(HOSTILE, b"x")])
        producer.send("hostile", b"", key=b"empty")
        producer.send("hostile", None, key=b"tombstone")
        producer.send("hostile", b"\xff\xfe\x00binary")
        long = (LONG * 4).encode()
        producer.send(LONG, b'{"' + long + b'": 1}', key=long, headers=[(LONG, long)])


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser() as page:
        yield page


@pytest.fixture
def page(tab: Page, site: str) -> Iterator[Page]:
    """The tab of all tests, at the overview; whatever it complains about fails the test."""
    tab.resize(1280, 800)
    tab.open(site)
    tab.see("Healthy")
    tab.events.clear()
    yield tab
    assert tab.complaints() == []
    address = site.removesuffix("/c/local")
    assert all(url.startswith((address, "data:")) for url in tab.hosts()), tab.hosts()


def test_the_overview_says_how_it_is(page: Page) -> None:
    page.wait(r"/broker \d is the controller/.test(document.body.innerText)", "the controller")
    page.wait("document.querySelector('.uplot canvas')", "a chart")
    page.wait("document.querySelectorAll('.uplot canvas').length === 2", "a chart of bytes")
    page.see("Brokers are like Kafka 3.9; inter.broker.protocol.version 3.9")
    page.wait("/Records\\n3\\d\\d/.test(document.body.innerText)", "the number of records")


def test_a_topic_is_found_and_looked_at(page: Page, kafka: Kafka) -> None:
    page.click("Topics")
    page.see("payments")
    page.wait("document.body.innerText.includes('300')", "numbers that stream in")
    page.see("ago")
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("meanwhile", partitions=1)]).check()
        page.see("meanwhile")
        admin.delete_topics("meanwhile").check()
    page.wait("!document.body.innerText.includes('meanwhile')", "without a reload")
    keep(page, "topics")
    page.press("/")
    page.wait("document.activeElement.matches('[data-filter]')", "focus by /")
    for key in "paym":
        page.press(key)
    page.wait("!document.body.innerText.includes('hostile')", "a shorter list")
    assert page.run("location.search") == "?q=paym", "the view is its address"
    page.click("payments")
    page.click("Partitions")
    page.see("Next offset")
    keep(page, "partitions")
    page.click("Configuration")
    page.see("set here")
    keep(page, "configuration")
    page.click("retention.ms")
    documented = "/Age after which|maximum time we will retain/"
    page.wait(f"{documented}.test(document.body.innerText)", "what the broker says of it")
    page.fill("dialog input", "7200000")
    page.click("Set", "dialog button")
    page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
    page.see("7200000")


def test_topics_are_sorted_by_any_column(page: Page) -> None:
    first = "document.querySelector('tbody tr a').innerText"
    page.click("Topics")
    page.wait("document.body.innerText.includes('300')", "numbers that stream in")
    page.click("Records", "th button")
    page.wait(f"{first} === 'orders'", "the largest first")
    assert page.run("document.querySelector('[aria-sort]').ariaSort") == "descending"
    assert page.run("location.search") == "?sort=-records", "the view is its address"
    page.click("Topic", "th button")
    page.wait(f"{first} === 'hostile'", "by name")
    page.click("Topic", "th button")
    page.wait(f"{first} !== 'hostile'", "and the other way")


def test_a_record_is_found_by_a_filter_and_shown_whole(page: Page, site: str) -> None:
    page.open(f"{site}/topics/orders")
    page.see("There may be more")
    keep(page, "messages")
    page.fill("input[name=filter]", 'value.user = "user-3" and value.id > 290')
    page.click("Look")
    page.see("That is all there is")
    page.wait("document.querySelectorAll('tbody tr').length === 1", "the one record")
    page.fill("input[name=columns]", "value.user, value.big")
    page.click("Look")
    page.wait("document.querySelector('tbody td:nth-of-type(5)').innerText === '9007199254740993'")
    keep(page, "columns")
    assert "filter=value.user" in page.run("location.search"), "the view is its address"
    page.run("document.querySelector('tbody button').click()")
    page.wait("document.querySelector('dialog pre')", "the record")
    page.wait("document.querySelector('dialog pre').innerText.includes(': 9007199254740993')")
    keep(page, "record")
    page.press("Escape")
    page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")


def test_nothing_is_three_things_and_values_that_attack_are_text(page: Page, site: str) -> None:
    page.open(f"{site}/topics/hostile")
    page.wait("document.querySelectorAll('tbody tr').length >= 4", "all records")
    marks = page.run("[...document.querySelectorAll('.mark')].map(each => each.innerText).sort()")
    assert {"bytes", "empty", "tombstone"} <= set(marks)
    page.see("<img src=x")
    page.click("Produce…")
    page.fill("dialog input[name=key]", "by hand")
    page.fill("dialog textarea[name=value]", "made by hand")
    page.click("Produce", "dialog button.primary")
    page.see("made by hand")
    assert not page.run("!!document.querySelector('#app img:not(.brand img), #app script')")
    assert page.run("document.title") != "1337"


def test_a_topic_is_created_and_deleted_by_typing_its_name(page: Page) -> None:
    page.click("Topics")
    page.click("Create a topic")
    page.fill("dialog input[name=name]", "fresh")
    page.fill("dialog input[name=partitions]", "2")
    page.wait("document.querySelectorAll('dialog option').length > 20", "settings to choose from")
    page.fill("dialog select[name=add]", "retention.ms")
    page.wait("document.querySelector('dialog .hint').innerText.length > 20", "what it means")
    page.fill("dialog input[name='setting retention.ms']", "7200000")
    keep(page, "create-topic")
    page.click("Create", "dialog button")
    page.wait("location.pathname.endsWith('/topics/fresh')", "the page of the topic")
    page.click("Configuration")
    page.see("7200000")
    page.click("Delete…")
    assert page.wait("document.querySelector('dialog button.danger').disabled")
    page.fill("dialog input", "fresh")
    page.click("Delete", "dialog button.danger")
    page.wait("location.pathname.endsWith('/topics')", "the list")
    page.wait("!document.body.innerText.includes('fresh')", "it is gone")


def test_a_topic_grows_and_loses_records_by_a_plan(page: Page, kafka: Kafka) -> None:
    with Producer[bytes, bytes](bootstrap_servers=kafka.bootstrap_servers) as producer:
        for number in range(5):
            producer.send("payments", b"%d" % number, partition=0)
    page.click("Topics")
    page.click("payments")
    page.click("Partitions")
    page.click("Add partitions…")
    page.fill("dialog input[name=total]", "7")
    page.click("Add", "dialog button.primary")
    page.wait("document.querySelectorAll('tbody tr').length === 7", "seven partitions")
    page.click("Delete records…")
    page.fill("dialog select", "offset")
    page.fill("dialog input[name=value]", "3")
    page.click("Show the plan")
    page.see("Delete 3 records…")
    page.click("Delete 3 records…")
    page.fill("dialog input", "payments")
    page.click("Delete the records", "dialog button.danger")
    page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
    page.wait("document.querySelector('tbody td:nth-of-type(5)').innerText === '3'", "its begin")


def test_a_member_is_sent_away_and_offsets_are_forgotten(page: Page, kafka: Kafka) -> None:
    servers = kafka.bootstrap_servers
    with Admin(bootstrap_servers=servers) as admin:
        offsets = {TopicPartition(name, 0): 0 for name in ("orders", "payments")}
        admin.alter_group_offsets("parting", offsets).check()
        with Consumer[bytes, bytes](bootstrap_servers=servers, group_id="parting") as consumer:
            consumer.subscribe(["orders"])
            consumer.poll(0.1)
            page.click("Groups")
            page.click("parting")
            page.click("Send away…")
            page.click("Send away", "dialog button.danger")
            page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
        page.click("Forget a topic…")
        page.fill("dialog select", "payments")
        page.fill("dialog input", "payments")
        page.click("Forget", "dialog button.danger")
        page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
        left = {each.topic for each in admin.list_group_offsets("parting")["parting"]}
        assert left == {"orders"}


def test_a_group_is_reset_after_the_plan_was_seen(page: Page) -> None:
    page.click("Groups")
    page.see("billing")
    keep(page, "groups")
    page.click("billing")
    page.see("285")
    page.wait("document.querySelector('.uplot canvas')", "a chart of its lag")
    page.wait("[...document.querySelectorAll('th')].some(each => each.innerText === 'Read/s')")
    page.see("never, at this rate")
    keep(page, "group")
    page.click("Why is it behind?")
    page.see("It has no members")
    page.click("billing")
    page.click("Reset offsets…")
    page.fill("dialog select", "latest")
    page.click("Show the plan")
    page.see("Set 3 offsets")
    keep(page, "reset")
    page.click("Set 3 offsets")
    page.wait("/Lag\\s*0/.test(document.body.innerText)", "no lag")


def test_brokers_are_shown_with_their_settings(page: Page) -> None:
    page.press("g")
    page.press("b")
    page.see("controller")
    page.see("protocol 3.9")
    page.see("Features of the cluster")
    keep(page, "brokers")
    page.run("document.querySelector('tbody a').click()")
    page.see("auto.create.topics.enable")


def test_the_palette_goes_anywhere_by_keyboard(page: Page) -> None:
    page.wait("document.querySelector('.uplot canvas')", "a chart")
    page.wait("document.querySelector('.findings li')", "what a client sees")
    keep(page, "overview")
    page.press("k", control=True)
    page.wait("document.querySelector('dialog[open] input')", "the palette")
    page.wait("document.querySelector('.palette').innerText.includes('payments')", "names")
    for key in "orders":
        page.press(key)
    keep(page, "palette")
    page.press("Enter")
    page.wait("location.pathname.endsWith('/topics/orders')", "the topic")


def test_the_api_is_a_page(page: Page) -> None:
    page.click("API")
    page.see("OpenAPI 3.1")
    page.press("/")
    for key in "acls":
        page.press(key)
    page.wait("document.querySelectorAll('.requests details').length === 4", "four requests")
    assert page.run("location.search") == "?q=acls", "the view is its address"
    page.click("POST", "summary")
    page.see("Takes the role")
    keep(page, "api")


def test_names_that_attack_are_text(page: Page, site: str) -> None:
    page.click("Groups")
    page.see("<img src=x")
    page.click('">')
    page.wait("document.querySelector('h1').innerText.includes('<script>')", "the page of it")
    page.open(f"{site}/topics/hostile/consumers")
    page.see("<img src=x")
    page.open(f"{site}/topics/orders/consumers")
    page.see("billing")
    keep(page, "consumers")
    assert not page.run("!!document.querySelector('#app img:not(.brand img), #app script')")
    assert page.run("document.title") != "1337"


PAGES = (
    *("", "/topics", "/topics/orders", "/topics/orders/configuration", "/groups"),
    *("/topics/orders/partitions", "/api"),
    *("/topics/orders/sql", "/topics/orders?start=live"),
    *("/topics/orders/consumers", "/groups/billing", "/brokers"),
)


NARROW = (
    *PAGES,
    *("/brokers/0", "/groups?q=orders_", "/topics?q=orders_"),
    *(f"/topics/{LONG}{tab}" for tab in ("", "/partitions", "/consumers", "/configuration")),
    *(f"/topics/{LONG}/sql", f"/topics/{LONG}/producers", f"/groups/{LONG}"),
    *(f"/why/group/{LONG}", f"/why/produce?topic={LONG}"),
)


@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
def test_every_page_can_be_used_on_a_phone_whatever_names_there_are(page: Page, site: str) -> None:
    page.resize(380, 740)
    for path in NARROW:
        page.open(site + path)
        page.wait("document.querySelector('h1') && !document.body.innerText.includes('Loading')")
        assert too_wide(page, 380) == [], path
    page.open(site)
    page.wait("document.querySelector('.findings li')", "what a client sees")
    assert too_wide(page, 380) == [], "whatever doctor finds, of hosts with any name"
    page.open(f"{site}/topics?q=")
    page.see("orders")
    keep(page, "phone")


@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
def test_dialogs_and_menus_fit_on_a_phone(page: Page, site: str) -> None:
    page.resize(380, 740)
    inside = (
        "(() => { const all = [...document.querySelectorAll('dialog, dialog *')];"
        "return all.length && all.every((each) => each.closest('.table, pre') ||"
        " each.getBoundingClientRect().right <= 380) })()"
    )
    page.open(f"{site}/topics/{LONG}?start=oldest")
    page.wait("document.querySelector('tbody button')", "the record")
    page.run("document.querySelector('tbody button').click()")
    page.wait("document.querySelector('dialog dt')", "its header")
    page.wait(inside, "a record that fits")
    page.press("Escape")
    page.click("Delete…")
    page.wait(inside, "a deletion that fits")
    page.press("Escape")
    page.open(f"{site}/groups/{LONG}")
    page.click("Reset offsets…")
    page.click("Show the plan")
    page.see("Set 1 offsets")
    page.wait(inside, "a plan that fits")
    page.press("Escape")
    page.press("k", control=True)
    page.wait("document.querySelectorAll('.palette li').length > 5", "the palette")
    page.wait(inside, "a palette that fits")


@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(page: Page, site: str, theme: str) -> None:
    assert violations(page, [site + path for path in PAGES], theme) == []
    if theme == "dark":
        page.run("localStorage.setItem('theme', 'dark')")
        page.open(f"{site}/groups/billing")
        page.wait("document.querySelector('.uplot canvas')", "a chart")
        keep(page, "dark")
        page.run("localStorage.removeItem('theme')")
