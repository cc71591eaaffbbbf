"""The files that `moldau init` writes fit the broker: its metrics, its options, its health."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from moldau.broker.membership.listening import registration_of
from moldau.broker.metrics.health import Health
from moldau.cli import serve
from moldau.cli.init import KINDS, TEMPLATES
from moldau.cli.main import commands
from moldau.client.blocking import Consumer, Producer
from moldau.config.broker.startup import read_startup
from moldau.runtime.process import host_name
from moldau.testing.broker import EmbeddedBroker, running_broker
from unit.cli.promql import Labels, Scrapes, Vector, read_page

ROOT = Path(__file__).resolve().parents[3]
TARGET = {"instance": "broker-1:9308", "job": "moldau"}
LEGEND = re.compile(r"\{\{(\w+)\}\}")
DASHBOARD = json.loads((TEMPLATES / "grafana-dashboard.json").read_text())
ALERTS = yaml.safe_load((TEMPLATES / "moldau-alerts.yml").read_text())["groups"][0]["rules"]
QUERIES = [
    (panel["title"], target["expr"], target["legendFormat"])
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]
# What is wrong with a broker when each alert fires: a metric, and what it then says.
ILLNESSES: dict[str, dict[str, float]] = {
    "MoldauBrokerDown": {"up": 0},
    "MoldauOfflinePartitions": {"kafka_controller_kafkacontroller_offlinepartitionscount": 2},
    "MoldauControllers": {"kafka_controller_kafkacontroller_activecontrollercount": 0},
    "MoldauLogDirectoryOffline": {"kafka_log_logmanager_logdirectoryoffline": 1},
    "MoldauUnderMinIsr": {"kafka_server_replicamanager_underminisrpartitioncount": 1},
    "MoldauUnderReplicated": {"kafka_server_replicamanager_underreplicatedpartitions": 1},
    "MoldauConsumerLagGrows": {"kafka_consumergroup_lag": 1_000_000},
    "MoldauEventLoopLate": {"moldau_event_loop_lag_ms": 900},
    "MoldauCoreFull": {"process_cpu_seconds_total": 1_000_000},
    "MoldauFewFilesLeft": {"process_open_fds": 1e12},
    "MoldauProduceFails": {"kafka_server_brokertopicmetrics_failedproducerequests_total": 1e6},
}


def scrape(kafka: EmbeddedBroker) -> str:
    health = Health()
    health.broker = kafka.running.broker
    page = health.pages()["/metrics"]
    return kafka.look(lambda _: "up 1\n" + "".join(page.lines()))


@pytest.fixture(scope="module")
def scrapes() -> Scrapes:
    """Two looks at a broker that is used by a producer and a group."""
    with running_broker() as kafka:
        settings = {"bootstrap.servers": kafka.bootstrap_servers}
        with Producer(settings) as producer:
            producer.send_and_wait("orders", b"one")
        with Consumer(settings, group_id="billing", auto_offset_reset="earliest") as group:
            group.subscribe(["orders"])
            next(iter(group))
            group.commit()
            before = scrape(kafka)
            now = scrape(kafka)
    return Scrapes(read_page(before, **TARGET), read_page(now, **TARGET), 60.0)


def evaluated(scrapes: Scrapes, query: str) -> Vector:
    return scrapes.evaluate(query.replace("$__rate_interval", "5m").replace("$instance", ".*"))


@pytest.mark.parametrize(("title", "query", "legend"), QUERIES, ids=[each[0] for each in QUERIES])
def test_a_panel_of_the_dashboard_shows_something(
    scrapes: Scrapes, title: str, query: str, legend: str
) -> None:
    found = evaluated(scrapes, query)
    assert found, title
    named = LEGEND.findall(legend)
    assert all(set(named) <= {name for name, _ in labels} for labels in found), title


def test_the_dashboard_shows_how_far_a_group_is_behind(scrapes: Scrapes) -> None:
    [query] = [query for title, query, _ in QUERIES if title.startswith("Consumer lag")]
    billing: Labels = frozenset({("consumergroup", "billing"), ("topic", "orders")})
    assert evaluated(scrapes, query) == {billing: 0.0}


def test_every_alert_has_an_illness() -> None:
    assert [rule["alert"] for rule in ALERTS] == list(ILLNESSES)


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_is_silent_until_its_illness_is_there(
    scrapes: Scrapes, rule: dict[str, Any]
) -> None:
    assert evaluated(scrapes, rule["expr"]) == {}
    ill = {
        metric: dict.fromkeys(scrapes.now[metric], value)
        for metric, value in ILLNESSES[rule["alert"]].items()
    }
    assert evaluated(Scrapes(scrapes.before, scrapes.now | ill, 60.0), rule["expr"]) != {}
    assert {"summary", "advice"} <= rule["annotations"].keys()


def test_queries_outside_of_what_is_evaluated_are_refused(scrapes: Scrapes) -> None:
    for query in ("up offset 5m", "topk(3, up)", "up[5m]", "up ~ 1"):
        with pytest.raises((SyntaxError, AssertionError)):
            scrapes.evaluate(query)


def test_prometheus_takes_the_files() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("there is no promtool (Debian: prometheus)")
    path = TEMPLATES / "prometheus.yml"
    done = subprocess.run([tool, "check", "config", path], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def options_of(line: str) -> Any:
    words = shlex.split(line)
    assert words[:2] == ["moldau", "serve"]
    return serve._parser().parse_args(words[2:])


def test_the_unit_of_systemd_starts_a_broker() -> None:
    unit = (TEMPLATES / "moldau.service").read_text().replace("\\\n", " ")
    [line] = re.findall(r"^ExecStart=/opt/moldau/bin/(.*)$", unit, re.MULTILINE)
    options = options_of(line)
    assert (options.config, options.data) == ("/etc/moldau/server.properties", "/var/lib/moldau")
    assert "StateDirectory=moldau\n" in unit


def test_systemd_takes_its_unit(tmp_path: Path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze (Debian: systemd)")
    unit = (TEMPLATES / "moldau.service").read_text().replace("/opt/moldau/bin/moldau", "/bin/true")
    copy = tmp_path / "moldau.service"
    copy.write_text(unit)
    done = subprocess.run([tool, "verify", copy], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def container_options() -> Any:
    text = (TEMPLATES / "Containerfile").read_text().replace("\\\n", " ")
    steps = dict(re.findall(r"^(ENTRYPOINT|CMD) (.*)$", text, re.MULTILINE))
    return options_of(shlex.join(json.loads(steps["ENTRYPOINT"]) + json.loads(steps["CMD"])))


def test_the_container_starts_a_broker_and_asks_for_its_health() -> None:
    options = container_options()
    assert (options.data, options.metrics_host) == ("/var/lib/moldau", "0.0.0.0")
    text = (TEMPLATES / "Containerfile").read_text().replace("\\\n", " ")
    [check] = re.findall(r"^HEALTHCHECK .* CMD (.*)$", text, re.MULTILINE)
    compose = yaml.safe_load((TEMPLATES / "compose.yaml").read_text())
    assert compose["services"]["moldau"]["healthcheck"]["test"] == ["CMD", *json.loads(check)]
    assert json.loads(check) == ["moldau", "health", "--port", str(options.metrics_port)]
    assert "health" in commands()


def test_clients_of_the_container_are_told_an_address_that_they_can_reach() -> None:
    startup = read_startup(serve.settings(container_options()))
    assert {(each.host, each.port) for each in startup.listeners.bound} == {("", 9092), ("", 29092)}
    told = registration_of(startup, {}, now_ms=0).endpoints
    assert [(each.host, each.port) for each in told] == [
        ("localhost", 9092),  # on the machine, where the port is published
        (host_name(), 29092),  # in the containers' network
    ]
    compose = yaml.safe_load((TEMPLATES / "compose.yaml").read_text())
    broker = compose["services"]["moldau"]
    assert broker["hostname"] == "moldau"  # the name of the service, which others can resolve
    assert "127.0.0.1:9092:9092" in broker["ports"]


def test_compose_mounts_files_that_come_with_it() -> None:
    compose = yaml.safe_load((TEMPLATES / "compose.yaml").read_text())
    mounts = [m for service in compose["services"].values() for m in service.get("volumes", [])]
    files = {mount.partition(":")[0].removeprefix("./") for mount in mounts if mount[0] == "."}
    assert files <= set(KINDS["container"])
    assert {m.partition(":")[0] for m in mounts if m[0] != "."} == compose["volumes"].keys()
    scraped = yaml.safe_load((TEMPLATES / "prometheus.yml").read_text())["scrape_configs"]
    [target] = scraped[0]["static_configs"][0]["targets"]
    assert target.partition(":")[0] in compose["services"]


def test_the_settings_are_those_of_the_clone() -> None:
    template = (TEMPLATES / "server.properties").read_bytes()
    assert template == (ROOT / "config" / "server.properties").read_bytes()


def test_every_template_is_written_by_some_kind() -> None:
    assert {path.name for path in TEMPLATES.iterdir()} == {n for ns in KINDS.values() for n in ns}
