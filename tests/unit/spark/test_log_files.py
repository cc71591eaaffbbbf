"""Spark's log has a file of its own."""

import subprocess
from pathlib import Path

import pytest

from moldau.spark.log_files import log_settings, printing_to

OPTIONS = "spark.driver.extraJavaOptions"


def test_a_driver_is_told_where_to_log(tmp_path: Path) -> None:
    directory = tmp_path / "my app"
    settings = log_settings(directory, {OPTIONS: "-Xss4m"})
    configuration = directory / "log4j2.properties"
    assert settings == {OPTIONS: f"-Xss4m -Dlog4j2.configurationFile={configuration.as_uri()}"}
    assert "%20" in settings[OPTIONS]
    text = configuration.read_text()
    assert f"appender.file.fileName = {directory / 'spark.log'}\n" in text
    assert "appender.file.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss.SSS} %p" in text


def test_whoever_has_a_configuration_keeps_it(tmp_path: Path) -> None:
    assert log_settings(tmp_path, {OPTIONS: "-Dlog4j2.configurationFile=mine"}) == {}
    assert list(tmp_path.iterdir()) == []


def test_processes_print_errors_to_a_file_that_is_new_for_each_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for word in ("one", "two"):
        with printing_to(tmp_path / "app"):
            subprocess.run(["sh", "-c", f"echo {word} >&2"], check=True)
    subprocess.run(["sh", "-c", "echo three >&2"], check=True)
    assert (tmp_path / "app" / "spark.err").read_text() == "two\n"
    assert (tmp_path / "app" / "spark.err.1").read_text() == "one\n"
    assert capfd.readouterr().err == "three\n"
