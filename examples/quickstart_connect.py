"""A shop's orders go from PostgreSQL through a topic and Streams to PostgreSQL and Iceberg.

Run it with bin/quickstart --connect. Everything runs on this machine and is gone afterwards: a
database, a broker in this process, a Connect worker with examples/orders.toml, and on Spark the
topology of examples/revenue.py. A shop takes, changes and cancels orders; at the end what it has
sold by country is compared with what came out.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
from quickstart_postgres import database, session

from moldau.client.admin.topics import NewTopic
from moldau.client.blocking import Admin
from moldau.testing.broker import running_broker

COUNTRIES = ("AT", "CZ", "DE", "PL", "SK")
ORDERS_BEFORE, ORDERS_PER_S = 500, 100
EXAMPLES = Path(__file__).parent
RESULT_S, STOP_S = 240, 30

Place = dict[str, str]
Revenue = dict[str, tuple[int, int]]
"""By country: how many orders, and cents."""

_SOLD = "SELECT country, count(*), sum(cents) FROM orders GROUP BY country"
_TOLD = "SELECT country, orders, cents FROM revenue WHERE orders > 0"
_TABLE = (
    "CREATE TABLE orders (id serial PRIMARY KEY, country text NOT NULL, cents integer NOT NULL)"
)
_CHANGE = "UPDATE orders SET country = %(country)s, cents = %(cents)s WHERE id = %(id)s"
_FILL = """
INSERT INTO orders (country, cents)
SELECT (%s::text[])[1 + i %% 5], 100 + i FROM generate_series(1, %s) i
"""


class Shop:
    """Takes orders, changes some and cancels some, one transaction each."""

    def __init__(self, place: Place) -> None:
        self.changes = 0
        self._place = place
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, name="shop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ends.set()
        self._thread.join()

    def _work(self) -> None:
        chance = random.Random(7)
        with session(self._place) as connection:
            while not self._ends.wait(1 / ORDERS_PER_S):
                order = {"country": chance.choice(COUNTRIES), "cents": chance.randrange(100, 9_999)}
                order["id"] = chance.randrange(1, ORDERS_BEFORE)
                statement = chance.choices(
                    (
                        "INSERT INTO orders (country, cents) VALUES (%(country)s, %(cents)s)",
                        _CHANGE,
                        "DELETE FROM orders WHERE id = %(id)s",
                    ),
                    (6, 3, 1),
                )[0]
                self.changes += connection.execute(statement, order).rowcount


def main(show_s: float) -> None:
    began_s = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # else the processes would stay
    with tempfile.TemporaryDirectory(prefix="moldau-quickstart-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database may run as another user
        with database(directory / "postgres") as place, running_broker() as kafka:
            print(f"1. PostgreSQL, and a broker on {kafka.bootstrap_servers}, after", end=" ")
            print(since(began_s), flush=True)
            with session(place) as connection:
                connection.execute(_TABLE)
                connection.execute(_FILL, [list(COUNTRIES), ORDERS_BEFORE])
            with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
                topics = [
                    NewTopic(each, partitions=1) for each in ("shop.public.orders", "revenue")
                ]
                admin.create_topics(topics).check()
            print("2. A Connect worker starts with examples/orders.toml, and Spark with")
            print("   examples/revenue.py, which takes some seconds ...", flush=True)
            with closing(Pipeline(directory, place, kafka.bootstrap_servers)) as pipeline:
                show(directory, place, show_s, pipeline)
    print(f"   Everything has stopped, after {since(began_s)}.\n")
    print(
        "Next:\n"
        "   less examples/orders.toml        the connectors\n"
        "   less examples/revenue.py         the topology\n"
        "   docs/connect.md                  all connectors, and what they promise"
    )


class Pipeline:
    """The worker and the topology, as processes."""

    def __init__(self, directory: Path, place: Place, servers: str) -> None:
        lake = directory / "lake"
        lake.mkdir()
        self._directory = directory
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "SHOP_KAFKA": servers,
            "SHOP_HOST": place["host"],
            "SHOP_USER": place["user"],
            "SHOP_LAKE": str(lake),
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        spark = ["--master", "local[2]", "--conf", "spark.ui.enabled=false"]
        spark += ["--checkpoint", str(directory / "checkpoint"), "--interval-ms", "500"]
        topology = ["run", str(EXAMPLES / "revenue.py"), "--bootstrap-server", servers]
        self._start("connect", ["run", str(EXAMPLES / "orders.toml")])
        self._start("streams", [*topology, *spark])

    def _start(self, name: str, arguments: list[str]) -> None:
        with (self._directory / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "moldau", name, *arguments],
                env=self._environment,
                cwd=self._directory,
                stdout=log,
                stderr=log,
            )

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """SystemExit with what they have said if one of them has ended, or nothing comes."""
        deadline = time.monotonic() + RESULT_S
        while not is_so():
            ended = [name for name, each in self._processes.items() if each.poll() is not None]
            if ended or time.monotonic() > deadline:
                for name in self._processes:
                    log = (self._directory / f"{name}.log").read_text(errors="replace")
                    print(f"moldau {name} said:\n{log[-2000:]}\n")
                why = f"moldau {ended[0]} has ended" if ended else f"no result in {RESULT_S} s"
                raise SystemExit(why)
            time.sleep(0.2)

    def close(self) -> None:
        for each in self._processes.values():
            each.terminate()
        for each in self._processes.values():
            try:
                each.wait(STOP_S)
            except subprocess.TimeoutExpired:
                each.kill()


def show(directory: Path, place: Place, show_s: float, pipeline: Pipeline) -> None:
    """Follow the table of totals while the shop is open, and compare when it has closed."""
    with session(place) as connection:
        pipeline.wait_until(lambda: told(connection) != {})
        print(f"3. {ORDERS_PER_S} times a second the shop takes, changes or cancels an order. The")
        print("   table 'revenue' follows, in thousands:\n")
        print(f"   {'time':9} {' '.join(f'{each:>7}' for each in COUNTRIES)}   orders", flush=True)
        shop = Shop(place)
        try:
            ends_s = time.monotonic() + show_s
            while time.monotonic() < ends_s:
                time.sleep(1)
                print(line_of(told(connection)), flush=True)
        finally:
            shop.close()
        sold = rows_of(connection, _SOLD)
        pipeline.wait_until(lambda: told(connection) == sold)
        print(line_of(sold))
        pipeline.wait_until(lambda: in_lake(directory) == sold)
    orders = sum(count for count, _ in sold.values())
    print(
        f"\n4. The shop has closed, after {shop.changes:,} changes. It has {orders:,} orders, and"
    )
    print("   the table 'revenue' has exactly these, country by country. So has the Iceberg table,")
    print("   which keeps what the totals were before as well, and no record of the topic twice.")


def told(connection: "psycopg.Connection[tuple[object, ...]]") -> Revenue:
    """What the sink has written to the database; it makes the table with the first total."""
    try:
        return rows_of(connection, _TOLD)
    except psycopg.errors.UndefinedTable:
        return {}


def rows_of(connection: "psycopg.Connection[tuple[object, ...]]", question: str) -> Revenue:
    rows = connection.execute(question.encode()).fetchall()
    return {str(country): (int(str(count)), int(str(cents))) for country, count, cents in rows}


def in_lake(directory: Path) -> Revenue:
    """The last total of each country that the lake has; SystemExit if it has a record twice."""
    from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - takes long
    from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415

    lake = directory / "lake"
    place = {"uri": f"sqlite:///{lake}/catalog", "warehouse": f"file://{lake}"}
    try:
        table = load_catalog("default", type="sql", **place).load_table("default.revenue")
    except NoSuchTableError:
        return {}
    rows = table.scan().to_arrow().sort_by("__offset").to_pylist()
    if len({row["__offset"] for row in rows}) < len(rows):
        raise SystemExit("the Iceberg table has a record of the topic twice")
    last = {row["country"]: (row["orders"], row["cents"]) for row in rows}
    return {country: total for country, total in last.items() if total[0]}


def line_of(revenue: Revenue) -> str:
    cents = [revenue.get(country, (0, 0))[1] for country in COUNTRIES]
    orders = sum(count for count, _ in revenue.values())
    shown = " ".join(f"{each / 100_000:7,.1f}" for each in cents)
    return f"   {time.strftime('%H:%M:%S')}  {shown}  {orders:7,}"


def since(began_s: float) -> str:
    return f"{time.monotonic() - began_s:.1f} s"
