"""F17, F18, F20, F21 and F37: disks that lose something, are full, or fail."""

import random
import resource
from collections.abc import Callable
from pathlib import Path

from faults.fault import fault
from faults.load import PARTITIONS
from faults.stage import Stage
from simulation.client import TOPIC

_CUT_MAX_BYTES = 65_536
_TWO_DIRECTORIES = {"log.dirs": "{directory}/logs,{directory}/more"}


@fault()
def f17(stage: Stage) -> None:
    """A follower is killed and loses up to 64 KiB of each active segment, and its indexes' ends,
    as with the power."""
    chance = random.Random(17)

    def cut(segment: Path) -> None:
        size = segment.stat().st_size
        _truncate(segment, max(0, size - chance.randint(0, _CUT_MAX_BYTES)))
        for suffix in (".index", ".timeindex"):
            index = segment.with_suffix(suffix)
            if index.exists():
                index.write_bytes(bytes(index.stat().st_size))

    for _ in range(stage.rounds):
        _damage(stage, cut)


@fault()
def f18(stage: Stage) -> None:
    """A follower is killed in the middle of a batch: in its header, in its records, or with
    garbage behind it."""
    chance = random.Random(18)

    def tear(segment: Path) -> None:
        data = segment.read_bytes()
        torn = (data[:-1], data[: -chance.randint(1, 70)], data + chance.randbytes(100))
        segment.write_bytes(torn[int(segment.parent.name[-1]) % len(torn)])

    for _ in range(stage.rounds):
        _damage(stage, tear)


@fault()
def f20(stage: Stage) -> None:
    """A broker is killed, and its indexes and snapshots of producers are deleted."""

    def lose(segment: Path) -> None:
        for path in segment.parent.iterdir():
            if path.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
                path.unlink()

    for _ in range(stage.rounds):
        _damage(stage, lose)


def _damage(stage: Stage, damage: Callable[[Path], None]) -> None:
    """Let a broker come back to a disk that is not as it was."""
    number = stage.follower()
    stage.kill(number)
    stage.until_gone(number)
    for partition in range(PARTITIONS):
        directory = stage.cluster.brokers[number].log_directory / f"{TOPIC}-{partition}"
        damage(max(directory.glob("*.log")))
    stage.start(number)
    stage.load.until_more()
    stage.until_whole()


def _truncate(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


@fault()
def f21(stage: Stage) -> None:
    """A leader's only disk is full in the middle of a write; it is started again with room."""
    for _ in range(stage.rounds):
        before = stage.state()
        broker = stage.cluster.brokers[before.leader]
        segment = max((broker.log_directory / f"{TOPIC}-0").glob("*.log"))
        # No file of this process can grow beyond that.
        limit = segment.stat().st_size + 100
        _, most = resource.prlimit(broker.process_id, resource.RLIMIT_FSIZE)
        resource.prlimit(broker.process_id, resource.RLIMIT_FSIZE, (limit, most))
        stage.until_ended(before.leader)
        stage.until_led_by_another(before)
        stage.load.until_more()
        broker.kill()
        broker.start()
        stage.until_whole()


@fault(settings=_TWO_DIRECTORIES)
def f37(stage: Stage) -> None:
    """One of a leader's two log directories fails, then the other one, too."""
    for _ in range(stage.rounds):
        before = stage.state()
        number = before.leader
        broker = stage.cluster.brokers[number]
        (first,) = broker.directory.glob(f"*/{TOPIC}-0")
        failed, other = first.parent, _other(broker.directory, first.parent)
        kept = [int(path.name.rpartition("-")[2]) for path in other.glob(f"{TOPIC}-?")]
        assert kept, "there is something in each of them"
        _take_away(failed)
        stage.until_led_by_another(before)
        stage.load.until_more()
        assert number not in stage.state().isr
        assert all(number in stage.state(one).isr for one in kept), "the other one goes on"
        assert number in stage.cluster.live()
        assert not broker.has_ended
        _take_away(other)
        stage.until_ended(number)
        for directory in (failed, other):
            _bring_back(directory)
        broker.kill()
        broker.start()
        stage.until_whole()


def _other(parent: Path, one: Path) -> Path:
    (found,) = {parent / "logs", parent / "more"} - {one}
    return found


def _take_away(directory: Path) -> None:
    """Put a file in a directory's place: whatever is opened there from now on fails."""
    directory.rename(directory.with_name(f"{directory.name}-away"))
    directory.touch()


def _bring_back(directory: Path) -> None:
    directory.unlink()
    directory.with_name(f"{directory.name}-away").rename(directory)
