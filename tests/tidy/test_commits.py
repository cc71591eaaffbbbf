"""The rule about commits finds subjects that are too long or without a prefix."""

import os
import subprocess
from pathlib import Path

import pytest

from tidy import commits
from tidy.plant import plant

ROOT = Path(__file__).resolve().parents[2]


def test_new_commits_of_the_project_have_good_subjects() -> None:
    try:
        broken = list(commits.subjects(ROOT))
    except commits.NoHistory as reason:
        pytest.skip(str(reason))
    assert not broken, "\n" + "\n".join(map(str, broken))


@pytest.mark.parametrize(
    ("subject", "faults"),
    [
        ("log: sync the folder after a rename", 0),
        ("docs: say what a checkpoint holds", 0),
        ("project: hold commits to their own rules", 0),
        (f"log: {'x' * 60}", 0),
        (f"log: {'x' * 61}", 1),
        ("sync the folder after a rename", 1),
        ("log:", 1),
        ("log: ", 1),
        ("logs: sync the folder", 1),
        (f"logs: {'x' * 61}", 2),
    ],
)
def test_a_subject_has_a_prefix_and_at_most_65_characters(subject: str, faults: int) -> None:
    prefixes = frozenset({"log", "docs", "project"})
    assert len(list(commits.faults_of(subject, prefixes))) == faults


def test_prefixes_are_parts_and_folders(tmp_path: Path) -> None:
    files = ("src/moldau/model.py", "src/moldau/log/log.py", "docs/a.md", "tests/faults/a.py")
    root = plant(tmp_path, dict.fromkeys((*files, ".git/config", "src/moldau/__init__.py"), ""))
    found = commits.known_prefixes(root)
    assert found == {"model", "log", "docs", "tests", "faults", "src", "project", "build"}


@pytest.mark.needs("git")
def test_commits_before_the_rule_and_merges_are_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "Before the rule", "src/moldau/log/log.py")
    commit(tmp_path, "The rule", commits.THIS)
    assert list(commits.subjects(tmp_path)) == []
    git(tmp_path, "switch", "-q", "-c", "other")
    commit(tmp_path, "log: read", "src/moldau/log/read.py")
    commit(tmp_path, "Write", "src/moldau/log/write.py")
    git(tmp_path, "switch", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge other", "other")
    (found,) = commits.subjects(tmp_path)
    assert found.detail == "no prefix: Write"


@pytest.mark.needs("git")
def test_without_history_there_is_nothing_to_say(tmp_path: Path) -> None:
    with pytest.raises(commits.NoHistory):
        list(commits.subjects(tmp_path))
    git(tmp_path, "init", "-q")
    commit(tmp_path, "A", "a")
    with pytest.raises(commits.NoHistory):
        list(commits.subjects(tmp_path))


def commit(root: Path, subject: str, file: str) -> None:
    plant(root, {file: ""})
    git(root, "add", file)
    git(root, "commit", "-q", "-m", subject)


def git(root: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in NAMES}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **who, **alone}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, env=environment)


NAMES = ("NAME", "EMAIL")
