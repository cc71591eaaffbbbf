"""The whole project against every rule."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tidy import (
    documents,
    handlers,
    import_graph,
    import_map,
    limits,
    naming,
    pairing,
    secrecy,
    sleeps,
    words,
)
from tidy.exceptions import EXCEPTIONS
from tidy.sources import Violation

ROOT = Path(__file__).resolve().parents[2]
Rule = Callable[[Path], Iterator[Violation]]
RULES: tuple[Rule, ...] = (
    import_map.layers,
    import_map.rooms,
    import_map.known_parts,
    import_map.known_rooms,
    import_map.third_party,
    import_map.purity,
    import_map.absolute_imports,
    import_graph.import_cycles,
    import_graph.unused_modules,
    limits.module_lines,
    limits.function_lines,
    limits.parameters,
    limits.columns,
    naming.vague_files,
    naming.vague_classes,
    naming.docstrings,
    naming.bare_packages,
    naming.equal_class_names,
    pairing.modules_have_tests,
    pairing.tests_have_modules,
    handlers.one_handler_per_api,
    secrecy.constant_time,
    secrecy.hidden_secrets,
    sleeps.no_sleeps,
    documents.known_files,
    documents.short_sentences,
    documents.table_of_parts,
    words.unfinished_work,
    words.machine_names,
    words.plain_messages,
    words.plain_code,
    words.plain_documents,
)


@cache
def _broken(rule: Rule) -> tuple[Violation, ...]:
    """What breaks a rule, exceptions or not; some rules read all files for it."""
    return tuple(rule(ROOT))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps(rule: Rule) -> None:
    broken = [found for found in _broken(rule) if (found.rule, found.place) not in EXCEPTIONS]
    assert not broken, "\n" + "\n".join(map(str, broken))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_exception_is_still_needed_for(rule: Rule) -> None:
    listed = {place for name, place in EXCEPTIONS if name == rule.__name__}
    assert listed <= {found.place for found in _broken(rule)}


def test_exceptions_name_rules_that_exist() -> None:
    assert {name for name, _ in EXCEPTIONS} <= {rule.__name__ for rule in RULES}


def test_every_exception_has_a_reason() -> None:
    assert all(len(reason.split()) > 2 for reason in EXCEPTIONS.values())


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys, moldau; print(sorted(m for m in sys.modules if m.startswith('moldau.')))"
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
