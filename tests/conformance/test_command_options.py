"""Options of Apache's command lines and of ours."""

import re
from importlib import import_module

import pytest

from conformance.apache.jvm import run_main
from conformance.apache.marks import needs_apache
from conformance.apache.tools import CLASSES, ApacheTools, Ended
from unit.cli.command import run

pytestmark = needs_apache("kafka-3.9")

# Those whose `--help` ends the virtual machine, each with what it is asked about.
ENDS_JAVA = {
    "kafka-cluster.sh": ("cluster-id", "unregister"),
    "kafka-producer-perf-test.sh": ("",),
    "kafka-transactions.sh": ("abort", "describe-producers", "find-hanging"),
}


@pytest.mark.parametrize("script", sorted(set(CLASSES) - set(ENDS_JAVA)))
def test_every_option_of_apaches_tools_is_one_of_ours(script: str, tools: ApacheTools) -> None:
    check_options(script, tools.run(script, "--help"))


@pytest.mark.parametrize("script", sorted(ENDS_JAVA))
def test_every_option_of_tools_that_end_java_is_one_of_ours(script: str) -> None:
    for words in ENDS_JAVA[script]:
        done = run_main(CLASSES[script], *words.split(), "--help", jars="kafka-3.9")
        check_options(script, Ended(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize("script", sorted(CLASSES))
def test_options_are_abbreviated_where_apaches_tools_take_it(
    script: str, tools: ApacheTools
) -> None:
    if script in ENDS_JAVA:
        done = run_main(CLASSES[script], "--hel", jars="kafka-3.9")
        told = done.stdout + done.stderr
    else:
        ended = tools.run(script, "--hel")
        told = ended.stdout + ended.stderr
    is_taken = "hel is not a recognized option" not in told
    assert (run(script, "--hel").code == 0) == is_taken


def check_options(script: str, told: Ended) -> None:
    text = told.stdout + told.stderr
    theirs = set(
        re.findall(r"^\s*(?:-\w(?: \w+)?, )?--([a-z][\w.-]*\w)(?=[\s,]|$)", text, re.MULTILINE)
    )
    assert "help" in theirs
    name = script.removeprefix("kafka-").removesuffix(".sh").replace("-", "_")
    ours = import_module(f"moldau.cli.{name}").OPTIONS
    assert theirs <= {name for option in ours.options for name in (option.name, *option.aliases)}
