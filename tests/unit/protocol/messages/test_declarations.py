"""All declarations together."""

import subprocess
import sys
from pathlib import Path

import moldau
from moldau.protocol.declaration import facts_of
from moldau.protocol.schema import fields_of
from unit.protocol.catalogue import all_messages, message_versions

SOURCES = str(Path(moldau.__file__).parents[1])


def test_every_api_of_a_zookeeper_mode_broker_is_declared() -> None:
    keys = {facts_of(cls).api_key for cls in all_messages()}
    not_served = {52, 53, 54, 55, 59, 62, 63, 64, 70, 71, 72, 73, 74}  # KRaft and telemetry
    assert keys == {None, *set(range(70)) - not_served, 75}


def test_names_are_unique_where_they_are_looked_up() -> None:
    names = [cls.__name__ for cls in all_messages()]
    assert len(names) == len(set(names))
    assert len(message_versions()) > 600


def test_a_field_that_some_version_lacks_has_a_default() -> None:
    for cls in all_messages():
        versions = facts_of(cls).versions
        required = {
            name
            for name in (field.name for field in fields_of(cls))
            if name not in cls.__defaults__  # type: ignore[attr-defined]
        }
        for field in fields_of(cls):
            assert field.name not in required or all(map(field.is_in, versions))


def test_all_modules_together_load_in_a_fifth_of_a_second() -> None:
    program = """
import importlib, pkgutil, time
from moldau.protocol import codec, messages
def load():
    for module in pkgutil.iter_modules(messages.__path__):
        importlib.import_module(f"{messages.__name__}.{module.name}")
started = time.process_time()
load()
print(time.process_time() - started)
"""
    command = [sys.executable, "-c", program]
    runs = [
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONPATH": SOURCES})
        for _ in range(3)  # the first may have to write bytecode
    ]
    assert min(float(run.stdout) for run in runs) < 0.2
