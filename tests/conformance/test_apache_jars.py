"""The jars that the conformance tests run are the ones that the lock file names."""

from pathlib import Path

import pytest

from conformance.apache import jars
from conformance.apache.jars import Jar, JarMismatch, jar_paths, read_lock
from conformance.apache.marks import needs_apache


@needs_apache("json")
def test_jars_in_the_cache_need_no_maven(monkeypatch: pytest.MonkeyPatch) -> None:
    jar_paths("json")
    monkeypatch.setattr(jars, "run_maven", lambda *_: pytest.fail("Maven was called"))
    assert jar_paths.__wrapped__("json") == jar_paths("json")


def test_a_jar_with_another_hash_is_refused_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLDAU_CACHE", str(tmp_path))
    for jar in read_lock()["json"]:
        jar.path.parent.mkdir(parents=True)
        jar.path.write_bytes(b"something else")
    with pytest.raises(JarMismatch, match="jackson"):
        jar_paths.__wrapped__("json")
    assert not read_lock()["json"][0].path.exists()


def test_every_line_of_the_lock_file_has_a_hash() -> None:
    for section in read_lock().values():
        assert section
        assert all(len(jar.sha256) == 64 for jar in section)


def test_a_jar_lies_where_mavens_repositories_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLDAU_CACHE", str(tmp_path))
    jar = Jar.parse("org.apache.kafka:kafka-clients:3.9.2")
    place = "maven/org/apache/kafka/kafka-clients/3.9.2/kafka-clients-3.9.2.jar"
    assert jar.path == tmp_path / place
