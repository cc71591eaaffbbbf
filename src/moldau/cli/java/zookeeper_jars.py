"""The few jars that a ZooKeeper server needs: PySpark's, or else Maven's.

PySpark brings a whole ZooKeeper among its jars. Without it Maven fetches one, once: the
jars stay in a cache, each checked against its hash.
"""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from moldau.cli.terminal.failure import CommandFailed

_FETCHED = re.compile(r"Downloaded .*/([^/]+\.jar \(.+) at ")
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
# What a server loads, by the beginnings of the jars' names; netty is for TLS.
_NEEDED = ("zookeeper-", "slf4j-api-", "metrics-core-", "snappy-java-")
_USEFUL = ("zookeeper-jute-", "log4j-slf4j2-impl-", "log4j-api-", "log4j-core-", "netty-")


class Jar(NamedTuple):
    """A jar as Maven knows it."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


JARS = (
    Jar(
        "org.apache.zookeeper",
        "zookeeper",
        "3.8.4",
        "2d77b152039e7f85dc5438a9304febff86a2f3e55c88976a8be309af39028e97",
    ),
    Jar(
        "org.apache.zookeeper",
        "zookeeper-jute",
        "3.8.4",
        "93e854b55d731e745bafec187e2e7bf3389fd2a88e2fc8d1a3c1b9110284b284",
    ),
    Jar(
        "org.slf4j",
        "slf4j-api",
        "1.7.36",
        "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    ),
    Jar(
        "org.slf4j",
        "slf4j-simple",
        "1.7.36",
        "2f39bed943d624dfa8f4102d0571283a10870b6aa36f197a8a506f147010c10f",
    ),
    Jar(
        "io.dropwizard.metrics",
        "metrics-core",
        "4.1.12.1",
        "cec34936faa625039f4e46123eccaa10a9eb9d9a40c6075830cd81330e259cf9",
    ),
    Jar(
        "org.xerial.snappy",
        "snappy-java",
        "1.1.10.5",
        "0f3f1857ed33116583f480b4df5c0218836c47bfbc9c6221c0d73f356decf37b",
    ),
)


def zookeeper_jars() -> list[Path]:
    """The class path of a ZooKeeper server; CommandFailed if there is none to be had."""
    spark = importlib.util.find_spec("pyspark")
    if spark is not None and spark.origin is not None:
        found = jars_of_spark(Path(spark.origin).parent / "jars")
        if found:
            return found
    return jars_of_maven(cache_directory() / "zookeeper", JARS)


def jars_of_spark(directory: Path) -> list[Path]:
    """What is needed of PySpark's jars; nothing if they are not complete."""
    every = sorted(directory.glob("*.jar"))
    if not all(any(jar.name.startswith(start) for jar in every) for start in _NEEDED):
        return []
    return [jar for jar in every if jar.name.startswith((*_NEEDED, *_USEFUL))]


def jars_of_maven(directory: Path, jars: Iterable[Jar]) -> list[Path]:
    """Jars in a cache, fetched if they are not there yet."""
    wanted = {directory / jar.file_name: jar for jar in jars}
    missing = [jar for path, jar in wanted.items() if not _is_right(path, jar)]
    if missing:
        print(f"Maven: fetching {len(missing)} jars of ZooKeeper", file=sys.stderr, flush=True)
        _fetch(directory, missing)
    for path, jar in wanted.items():
        if not _is_right(path, jar):
            raise CommandFailed(f"{path} is not {jar.file_name} as it was published")
    return list(wanted)


def cache_directory() -> Path:
    """`MOLDAU_CACHE`, or the user's own cache."""
    chosen = os.environ.get("MOLDAU_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "moldau"


def _is_right(path: Path, jar: Jar) -> bool:
    if not path.exists():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256


def _fetch(directory: Path, jars: Iterable[Jar]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    project = directory / "pom.xml"
    # Every jar is named here: without the exclusions Maven would bring what they depend on.
    dependencies = "".join(
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version><exclusions><exclusion><groupId>*</groupId>"
        "<artifactId>*</artifactId></exclusion></exclusions></dependency>"
        for jar in jars
    )
    project.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>moldau</groupId><artifactId>zookeeper</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>\n"
    )
    goal = [f"{_PLUGIN}:copy-dependencies", f"-DoutputDirectory={directory}"]
    try:
        code = _run(["mvn", "-B", "-f", str(project), *goal])
    except FileNotFoundError:
        raise CommandFailed(
            "ZooKeeper's jars are neither in PySpark nor in the cache, and there is no mvn to "
            "fetch them: install Maven, or PySpark"
        ) from None
    if code:
        raise CommandFailed(f"Maven ended with code {code}")


def _run(command: list[str]) -> int:
    """Run Maven, and show of what it says which jars it fetches and what goes wrong."""
    with subprocess.Popen(  # noqa: S603 - ours
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as maven:
        assert maven.stdout is not None
        for line in maven.stdout:
            fetched = _FETCHED.search(line)
            if fetched:
                print(f"  {fetched[1]})", file=sys.stderr, flush=True)
            elif line.startswith("[ERROR]"):
                print(line, end="", file=sys.stderr, flush=True)
    return maven.returncode
