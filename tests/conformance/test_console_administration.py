"""The console's pages of administration in a real browser, with Connect and a registry beside."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser import Page, browser
from conformance.console_site import (
    EVERY_KAFKA,
    LONG_NAME,
    Kafka,
    keep,
    running_kafka,
    served,
    too_wide,
    violations,
)
from moldau.client.admin.quotas import QuotaEntity
from moldau.client.admin.topics import NewTopic
from moldau.client.admin.users import ScramPassword
from moldau.client.blocking.admin import Admin
from moldau.client.blocking.loop_thread import LoopThread
from moldau.console.login.oidc import OidcOptions
from moldau.model import TopicPartition
from moldau.net.metrics_page import MetricsPage
from moldau.security.acls import Acl, Operation, ResourceType
from moldau.streams.run.pages import pages_of
from moldau.web.server import Binding
from unit.connect.started import StartedWorker, started_worker, until
from unit.console.login.provider import CLIENT, provider
from unit.registry.started import started_registry
from unit.streams.run.test_progress import TOLD, Query
from unit.streams.test_picture import topology

pytestmark = pytest.mark.needs("browser")

BROKER = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}
ATTACK = '"><img src=x onerror="document.title=1337">'
"""Without a slash, which no name in ZooKeeper has."""
LONG = (LONG_NAME * 3)[:200]
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture(scope="module", params=EVERY_KAFKA)
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kafka]:
    with running_kafka(request.param, BROKER, tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture(scope="module")
def worker(kafka: Kafka) -> Iterator[StartedWorker]:
    with started_worker(kafka.bootstrap_servers) as started:
        yield started


@pytest.fixture(scope="module")
def site(
    kafka: Kafka, worker: StartedWorker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A console for a broker with rules, users and names that attack; one connector fails."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "lines.txt").write_text("one\n")
    with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        topics = [NewTopic("orders", partitions=2), NewTopic("lines", partitions=1)]
        admin.create_topics(topics).check()
        rules = [
            Acl(
                resource_type=ResourceType.GROUP,
                resource_name=name,
                principal=f"User:{name}",
                operation=Operation.READ,
            )
            for name in (ATTACK, LONG)
        ]
        admin.create_acls(rules).check()
        admin.alter_user_scram_credentials(
            [ScramPassword(name, "secret") for name in (ATTACK, LONG)]
        ).check()
        for name in (ATTACK, LONG):
            client: QuotaEntity = (("client-id", name),)
            admin.alter_client_quotas({client: {"consumer_byte_rate": 1024.0}}).check()
        admin.fence_producers(LONG)
        admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 0}).check()
    config = {"connector.class": SOURCE, "topic": "lines", "file": str(folder / "lines.txt")}
    worker.put("lines", {**config, "db.password": "hunter22"})
    sink = {"connector.class": SINK, "topics": "lines", "file": str(folder / "out.txt")}
    json_values = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    worker.put("broken", {**sink, **json_values})
    worker.put(LONG, {**sink, **json_values, "file": str(folder / LONG)})
    until(lambda: "FAILED" in worker.states("broken"), lambda: worker.states("broken"))
    until(lambda: worker.states("lines") == ["RUNNING", "RUNNING"])
    with started_registry(kafka.bootstrap_servers) as registry:
        fields = [{"name": "id", "type": "long"}]
        note = {"name": "note", "type": ["null", "string"], "default": None}
        for each in (fields, [*fields, note]):
            schema = {"type": "record", "name": "Order", "fields": each}
            body = {"schema": json.dumps(schema)}
            assert registry.ask("POST", "/subjects/orders-value/versions", body).status == 200
            assert registry.ask("POST", f"/subjects/{LONG}/versions", body).status == 200
        services = {"registry": registry.url, "connect": {"worker": worker.url}}
        with (
            streams_application() as streams,
            served(kafka.bootstrap_servers, **services, streams={"counting": streams}) as url,
        ):
            yield f"{url}/c/local"


@contextmanager
def streams_application() -> Iterator[str]:
    """The pages of one, as `moldau streams run --metrics-port` serves them."""
    made = topology()
    nodes = {"counts": list(made.nodes)}
    query = Query(ATTACK, late_records=3, progress=TOLD)
    pages = MetricsPage(
        pages_of(made, nodes, [query, Query("counts", TOLD)]), host="127.0.0.1", port=0
    )
    thread = LoopThread("streams")

    async def begun() -> "asyncio.Task[None]":
        return asyncio.get_running_loop().create_task(pages.serve())

    serving = thread.call(begun())
    yield f"http://127.0.0.1:{pages.port}"
    thread.call_function(serving.cancel)
    thread.close()


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
    assert not tab.run("!!document.querySelector('#app img:not(.brand img), #app script')")
    address = site.removesuffix("/c/local")
    assert all(url.startswith((address, "data:")) for url in tab.hosts()), tab.hosts()


def test_what_a_consumer_needs_is_added_and_removed_by_a_plan(page: Page, site: str) -> None:
    page.click("Access")
    page.see("<img src=x")
    page.click("Add rules…")
    page.fill("dialog input[name=principal]", "User:anna")
    page.fill("dialog input[name=topic]", "orders")
    page.fill("dialog input[name=group]", "billing")
    page.click("Show the plan")
    page.see("These are the first rules of topic orders")
    keep(page, "acl-plan")
    page.click("Add 3 rules")
    page.wait("!document.querySelector('dialog[open]')", "the dialog is closed")
    page.wait("document.querySelectorAll('tbody tr').length === 5", "five rules")
    keep(page, "acls")
    page.open(f"{site}/topics/orders/access")
    page.wait("document.querySelectorAll('tbody tr').length === 2", "those about the topic")
    keep(page, "topic-access")
    page.open(f"{site}/access/rules")
    page.wait("document.querySelectorAll('tbody tr').length === 5", "five rules")
    for key in "/anna":
        page.press(key)
    page.wait("document.querySelectorAll('tbody tr').length === 3", "the rules of anna")
    assert page.run("location.search") == "?q=anna", "the view is its address"
    for _ in range(3):
        page.run("document.querySelector('tbody input[type=checkbox]:not(:checked)').click()")
    page.click("Remove 3…")
    page.see("No rule of topic orders is left")
    page.click("Remove 3 rules")
    page.see("No rule matches")


def test_a_user_gets_a_password_and_is_removed_by_typing_the_name(page: Page) -> None:
    page.click("Access")
    page.click("Users")
    page.see("<img src=x")
    page.click("Add a user…")
    page.fill("dialog input[name=user]", "anna")
    page.fill("dialog input[name=password]", "correct horse")
    page.click("Add", "dialog button.primary")
    page.wait("document.querySelectorAll('tbody tr').length === 3", "three users")
    assert "correct horse" not in page.run("document.documentElement.outerHTML")
    keep(page, "users")
    page.run(
        "[...document.querySelectorAll('tbody tr')].find(each => each.innerText.includes('anna'))"
        ".querySelector('button.danger').click()"
    )
    page.fill("dialog input", "anna")
    page.click("Remove", "dialog button.danger")
    page.wait("document.querySelectorAll('tbody tr').length === 2", "two users")


def test_a_quota_is_set_for_everybody(page: Page) -> None:
    page.click("Access")
    page.click("Quotas")
    page.see("<img src=x")
    page.click("Set a quota…")
    page.fill("dialog input[name=producer_byte_rate]", "1048576")
    page.click("Set", "dialog button.primary")
    page.see("user (default)")
    page.see("1.0\u202fMiB/s")
    keep(page, "quotas")


def test_moves_transactions_and_producers_say_what_to_do_next(page: Page, site: str) -> None:
    page.press("g")
    page.press("m")
    page.see("Nothing moves")
    page.see("Every partition is led by its first replica")
    keep(page, "moves")
    page.click("Move a partition…")
    page.fill("dialog input[name=topic]", "orders")
    page.fill("dialog input[name=partition]", "0")
    ids = "fetch('/api/clusters/local').then(told => told.json()).then(told => told.brokers[0].id)"
    page.fill("dialog input[name=replicas]", str(page.run(ids)))
    page.click("Show the plan")
    page.see("Then on")
    keep(page, "move")
    page.open(f"{site}/transactions")
    page.wait("document.querySelector('tbody tr')", "an id")
    keep(page, "transaction-ids")
    page.click("Hanging")
    page.see("None hangs")
    page.open(f"{site}/topics/orders/producers")
    page.see("No producers are remembered")


def test_versions_of_a_schema_are_compared_and_another_is_checked(page: Page) -> None:
    page.click("Schemas")
    page.see("orders-value")
    keep(page, "schemas")
    page.click("orders-value")
    page.see("BACKWARD")
    page.wait("document.querySelector('pre')", "the schema")
    page.fill("main .bar label:nth-of-type(2) select", "1")
    page.see("lines differ between version 1 and 2")
    keep(page, "schema")
    broken = {"type": "record", "name": "Order", "fields": [{"name": "user", "type": "string"}]}
    page.fill("textarea[name=schema]", json.dumps(broken))
    page.click("Check", "form button")
    page.see("It is not compatible")
    page.fill("textarea[name=schema]", json.dumps({**broken, "fields": []}))
    page.click("Check", "form button")
    page.click("Register it")
    page.see("Registered with id")
    page.click("Topics")
    page.click("orders")
    page.click("Schema", ".tabs a")
    page.see("orders-value")
    page.wait("document.querySelector('pre').innerText.includes('fields')", "the newest schema")
    keep(page, "topic-schema")


def test_a_connector_is_stopped_reset_and_resumed(page: Page, worker: StartedWorker) -> None:
    page.click("Connect")
    page.see("1 failed")
    keep(page, "connect")
    page.click("lines")
    page.see("••••••")
    assert "hunter22" not in page.run("document.documentElement.outerHTML")
    page.click("Stop")
    page.see("✓ stopped")
    page.click("Reset all…")
    page.fill("dialog input", "lines")
    page.click("Reset", "dialog button.danger")
    page.see("No offsets yet")
    keep(page, "connector")
    page.click("Resume")
    until(lambda: worker.states("lines") == ["RUNNING", "RUNNING"])


def test_errors_of_a_form_stand_at_their_fields(
    page: Page, worker: StartedWorker, tmp_path: Path
) -> None:
    page.click("Connect")
    page.click("New connector…")
    page.wait("document.querySelectorAll('select option').length > 1", "classes")
    page.fill("main select", SOURCE)
    page.wait("document.getElementById('setting-topic')", "the form")
    page.click("Make the connector")
    page.see("settings are not as they should be")
    page.wait("document.querySelector('[aria-invalid=true]')", "a field with an error")
    keep(page, "connector-form")
    page.fill("#setting-name", "made")
    page.fill("#setting-topic", "lines")
    page.fill("#setting-file", str(tmp_path / "none.txt"))
    page.click("Make the connector")
    until(lambda: worker.states("made")[:1] == ["RUNNING"], page.text)
    page.click("Delete…")
    page.fill("dialog input", "made")
    page.click("Delete", "dialog button.danger")
    page.wait("location.pathname.endsWith('/connect')", "the list")


def test_why_pages_name_causes_and_what_mends_them(page: Page, site: str) -> None:
    page.open(f"{site}/why/connector/worker/broken")
    page.see("What is known")
    page.see("Restart what has failed…")
    keep(page, "why-connector")
    page.click("Restart what has failed…")
    page.see("Sent is")
    page.click("Restart what has failed", "dialog button.danger")
    page.see("Done: Restart what has failed")
    page.open(f"{site}/why/produce?topic=missing&error=UNKNOWN_TOPIC_OR_PARTITION")
    page.see("moldau topics --create --topic missing")
    keep(page, "why-produce")
    page.open(f"{site}/why")
    page.wait("document.querySelector('h1')")
    keep(page, "why")
    page.open(f"{site}/why/partitions")
    page.see("Every partition has a leader and all its replicas")


@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
def test_a_topology_is_drawn_with_its_rates(page: Page) -> None:
    page.click("Streams")
    page.see("counting")
    page.see("250 ms")
    page.see("! 3 late")
    page.wait("document.querySelectorAll('.topology rect').length === 5", "five boxes")
    page.wait("document.querySelector('.topology .rate')", "a rate on an arrow")
    keep(page, "streams")


@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
def test_a_browser_logs_in_elsewhere_and_comes_back(tab: Page, kafka: Kafka) -> None:
    thread = LoopThread("provider")
    entered = provider()
    scripted = thread.call(entered.__aenter__())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = f"http://localhost:{port}"
    try:
        options = {"oidc": OidcOptions(scripted.url, CLIENT, own), "binding": Binding(port)}
        with served(kafka.bootstrap_servers, **options):
            tab.open(f"{own}/c/local/me?x=1")
            tab.see("preferred_username")
            assert tab.run("location.pathname + location.search") == "/c/local/me?x=1"
            tab.see("viewer on all topics")
            keep(tab, "login")
            assert "moldau=" not in tab.run("document.cookie"), "no script sees the login"
            tab.run("fetch('/oidc/logout', {method: 'POST'}).then(found => found.status)")
            assert tab.run("fetch('/api/me').then(found => found.status)") == 401
    finally:
        thread.call(entered.__aexit__(None, None, None))
        thread.close()


PAGES = (
    *("access/rules", "access/users", "access/quotas", "transactions", "transactions/hanging"),
    *("streams", "reassignments", "topics/orders/producers"),
    *("schemas", "connect", "connect/worker/new"),
    *("schemas/subject?name=orders-value&against=1", "connect/worker?name=broken", "why"),
    *("topics/orders/schema", "topics/orders/access", "api", "topics/lines/schema"),
    *("why/connector/worker/broken", "why/group/billing", "why/produce?topic=missing", "me"),
)


LONG_PAGES = (
    *(f"schemas/subject?name={LONG}", f"connect/worker?name={LONG}", f"transactions/id?id={LONG}"),
    *(f"why/connector/worker/{LONG}", f"access/rules?q={LONG}"),
)


@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
def test_they_can_be_used_on_a_phone(page: Page, site: str) -> None:
    page.resize(380, 740)
    for path in (*PAGES, *LONG_PAGES):
        page.open(f"{site}/{path}")
        page.wait("document.querySelector('h1') && !document.body.innerText.includes('Loading')")
        if path == "connect/worker?name=broken":
            keep(page, "phone-connector")
        assert too_wide(page, 380) == [], path


@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize("kafka", ["moldau"], indirect=True)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_they_are_accessible(page: Page, site: str, theme: str) -> None:
    assert violations(page, [f"{site}/{path}" for path in PAGES], theme) == []
