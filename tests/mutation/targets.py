"""Which modules are mutated, and which tests have to notice."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Target:
    """Modules that the same tests are about.

    A test counts for a change only if it runs the changed line, so it costs little to name a
    folder. A pattern stands for modules, without `__init__.py`.
    """

    modules: str  # a path or pattern below the package
    tests: tuple[str, ...]  # files, folders and patterns below the tests
    without: tuple[str, ...] = ()  # modules of the pattern that are services


@dataclass(frozen=True, slots=True)
class Project:
    """Where modules and tests are."""

    root: Path
    package: str
    tests: str
    targets: tuple[Target, ...]

    def modules(self, target: Target) -> list[Path]:
        """The target's modules, in a stable order."""
        package = self.root / self.package
        left_out = {package / name for name in (*target.without, "__init__.py")}
        found = [path for path in sorted(package.glob(target.modules)) if path not in left_out]
        return [path for path in found if path.name != "__init__.py"]

    def test_files(self, target: Target) -> list[Path]:
        """The target's tests; a pattern that stands for nothing is a mistake."""
        found: list[Path] = []
        for pattern in target.tests:
            paths = sorted((self.root / self.tests).glob(pattern))
            assert paths, f"no tests are named {pattern}"
            found.extend(paths)
        return found

    def name(self, module: Path) -> str:
        return module.relative_to(self.root / self.package).as_posix()


_LOGINS = (
    "unit/broker/login/test_logins_attacks.py",
    "unit/broker/login/test_*_login.py",
    "unit/broker/login/test_credentials.py",
)
# Their requests are answered by handlers and by fast paths.
_ON_EVERY_WAY = (
    *("unit/broker/handlers/test_produce*.py", "unit/broker/handlers/test_fetch*.py"),
    *("unit/broker/handlers/test_offset_commit.py", "unit/broker/handlers/test_list_offsets.py"),
    *("unit/broker/quotas/test_enforcement.py", "unit/broker/access/test_requirements.py"),
)
TARGETS = (
    Target("records/validate.py", ("unit/records/test_validate*.py",)),
    Target("records/refusal.py", ("unit/records/test_refusal.py", "unit/records/test_validate.py")),
    Target(
        "broker/fast/*.py",
        ("unit/broker/fast", "unit/broker/requests/test_replica_wait.py", *_ON_EVERY_WAY),
    ),
    Target("broker/requests/*.py", ("unit/broker/requests", *_ON_EVERY_WAY)),
    Target("replication/partition.py", ("unit/replication/test_partition*.py",)),
    Target(
        "replication/*.py",
        ("unit/replication",),
        without=tuple(
            f"replication/{name}.py" for name in ("fetch_loop", "fetching", "partition", "replicas")
        ),
    ),
    Target("coordinator/group/*.py", ("unit/coordinator/group", "scenarios")),
    Target("coordinator/group/consumer/*.py", ("unit/coordinator/group", "scenarios")),
    Target("coordinator/transaction/*.py", ("unit/coordinator/transaction", "scenarios")),
    Target(
        "controller/*.py",
        ("unit/controller",),
        without=tuple(f"controller/{name}.py" for name in ("service", "senders", "term")),
    ),
    Target("security/acls.py", ("unit/security/test_acls.py", "unit/broker/access")),
    Target("security/authorization.py", ("unit/security/test_authorization.py",)),
    Target("security/scram.py", ("unit/security/test_scram.py", *_LOGINS)),
    Target("security/plain.py", ("unit/security/test_plain.py", *_LOGINS)),
    Target("security/principal_mapping.py", ("unit/security/test_principal_mapping.py",)),
    Target("broker/login/conversation.py", ("unit/broker/login/test_conversation.py",)),
    Target("broker/login/token_rules.py", ("unit/broker/login/test_token_rules.py",)),
    Target("broker/quotas/*.py", ("unit/broker/quotas",)),
)
MOLDAU = Project(ROOT, "src/moldau", "tests", TARGETS)
