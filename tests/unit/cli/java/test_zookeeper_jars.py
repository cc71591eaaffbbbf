"""The jars of a ZooKeeper server: from PySpark, from the cache, from Maven."""

import hashlib
import sys
from pathlib import Path

import pytest

from moldau.cli.java import zookeeper_jars
from moldau.cli.java.zookeeper_jars import Jar, cache_directory, jars_of_maven, jars_of_spark
from moldau.cli.terminal.failure import CommandFailed

CONTENT = b"jar"
JAR = Jar("g", "a", "1", hashlib.sha256(CONTENT).hexdigest())
SPARK = (
    "zookeeper-3.9.3.jar",
    "zookeeper-jute-3.9.3.jar",
    "slf4j-api-2.0.16.jar",
    "metrics-core-4.2.30.jar",
    "snappy-java-1.1.10.7.jar",
    "log4j-api-2.24.3.jar",
)


def put(directory: Path, *names: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).write_bytes(CONTENT)


def maven(directory: Path, script: str) -> None:
    """A program called mvn, which does what the script says."""
    directory.mkdir()
    program = directory / "mvn"
    program.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    program.chmod(0o755)


FETCH = """\
from pathlib import Path
directory = next(one.partition("=")[2] for one in sys.argv if "outputDirectory" in one)
print("[INFO] Scanning for projects...")
print("Downloaded from central: https://repository/g/a/1/a-1.jar (1.3 MB at 5.2 MB/s)")
Path(directory, "a-1.jar").write_bytes(b"jar")
"""


def test_of_pysparks_jars_only_the_needed_ones_are_taken(tmp_path: Path) -> None:
    put(tmp_path, *SPARK, "spark-core_2.13-4.0.0.jar", "hive-exec.jar")
    assert sorted(jar.name for jar in jars_of_spark(tmp_path)) == sorted(SPARK)


def test_a_pyspark_without_zookeeper_is_of_no_use(tmp_path: Path) -> None:
    put(tmp_path, *SPARK[2:])
    assert jars_of_spark(tmp_path) == []


def test_an_installed_pyspark_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "pyspark"
    put(package / "jars", *SPARK)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "pyspark")
    assert {jar.parent for jar in zookeeper_jars.zookeeper_jars()} == {package / "jars"}


def test_what_is_in_the_cache_is_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    put(tmp_path, "a-1.jar")
    assert jars_of_maven(tmp_path, [JAR]) == [tmp_path / "a-1.jar"]


def test_maven_fetches_what_is_missing_or_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    maven(tmp_path / "bin", FETCH)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    cache = tmp_path / "cache"
    for _ in range(2):
        assert jars_of_maven(cache, [JAR]) == [cache / "a-1.jar"]
        (cache / "a-1.jar").write_bytes(b"damaged")
    told = capfd.readouterr()
    assert told.err == "Maven: fetching 1 jars of ZooKeeper\n  a-1.jar (1.3 MB)\n" * 2
    assert told.out == ""


def test_a_jar_that_is_not_the_published_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven(tmp_path / "bin", FETCH)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(CommandFailed, match=r"is not a-1\.jar as it was published"):
        jars_of_maven(tmp_path / "cache", [JAR._replace(sha256="0")])


def test_without_maven_there_is_nothing_to_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CommandFailed, match="install Maven, or PySpark"):
        jars_of_maven(tmp_path / "cache", [JAR])


def test_a_failure_of_maven_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    maven(tmp_path / "bin", "print('[ERROR] no network'); sys.exit(3)")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(CommandFailed, match="Maven ended with code 3"):
        jars_of_maven(tmp_path / "cache", [JAR])
    assert "[ERROR] no network" in capfd.readouterr().err


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLDAU_CACHE", "/chosen")
    assert cache_directory() == Path("/chosen")
    monkeypatch.delenv("MOLDAU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_directory() == Path("/cache/moldau")
