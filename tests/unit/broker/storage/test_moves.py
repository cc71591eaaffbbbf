"""Moving replicas: under load, interrupted, ordered anew."""

from moldau.coordination.layout.configs import ConfigEntity, encode_config
from moldau.coordination.tree import Create
from moldau.log import names
from moldau.model import TopicPartition
from unit.broker.world import Setting, World, broker_world, until

NAME = TopicPartition("t", 0)
TWO = {"log.dirs": "/a,/b"}


def place(world: World) -> str | None:
    directory = world.broker.logs.directory_of(NAME)
    return None if directory is None else directory.volume.path


async def until_at(world: World, path: str) -> None:
    await until(world.broker.waiters, lambda: place(world) == path, "")


async def test_records_that_come_during_the_move_move_as_well() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t", 1, {"segment.bytes": "300"})
        for number in range(50):
            world.append("t", b"%d" % number)
        world.broker.log_moves.order(NAME, "/b")
        number = 50
        while place(world) != "/b":
            world.append("t", b"%d" % number)
            number += 1
            await world.broker.waiters.until(lambda: False, keys=["x"], timeout_s=0.001)
        log = world.partition("t").log
        assert (log.log_start_offset, log.log_end_offset) == (0, number)
        assert log.high_watermark == number
        assert [name for name in world.disk.list_directory("/a") if name.name == "t-0"] == []


async def limit_moves(world: World, text: str) -> None:
    name = "replica.alter.log.dirs.io.max.bytes.per.second"
    entity = ConfigEntity.broker(world.broker.id)
    if await world.tree.exists(entity.path) is None:
        await world.tree.create(Create(entity.path))
    await world.tree.set(entity.path, encode_config({name: text}))
    await world.broker.configs.load()
    assert world.broker.configs.layers.texts[name] == text


async def test_a_move_takes_its_time_where_there_is_a_limit() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t", 1, {"segment.bytes": "300"})
        for number in range(50):
            world.append("t", b"%d" % number)
        await limit_moves(world, "0")
        throttle = world.broker.log_moves.throttle
        assert throttle is not None
        world.broker.log_moves.order(NAME, "/b")
        for _ in range(2):

            def is_held_up() -> bool:
                return throttle.is_exceeded(now_ms=world.clock.monotonic_ms())

            await until(world.broker.waiters, is_held_up, "")
            assert place(world) == "/a"
            world.clock.time_ms += 20_000
            assert not is_held_up()
        await limit_moves(world, str(2**30))
        await until_at(world, "/b")
        assert world.partition("t").log.log_end_offset == 50


async def test_deleted_records_do_not_come_back() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t")
        world.append("t", b"a", b"b", b"c")
        world.partition("t").log.raise_log_start(2)
        world.broker.log_moves.order(NAME, "/b")
        await until_at(world, "/b")
        assert world.partition("t").log.log_start_offset == 2


async def test_a_restart_finds_the_log_where_it_went() -> None:
    setting = Setting()
    async with broker_world(TWO, setting) as world:
        await world.create_topic("t")
        world.append("t", b"a", b"b")
        epochs = list(world.partition("t").log.epochs)
        world.broker.log_moves.order(NAME, "/b")
        await until_at(world, "/b")
    async with broker_world(TWO, setting) as world:
        assert place(world) == "/b"
        assert await world.broker.topics.until_led("t", 1, timeout_s=5)
        await until(world.broker.waiters, lambda: len(world.broker.replicas) == 1, "")
        log = world.partition("t").log
        assert log.log_end_offset == 2
        assert list(log.epochs) == epochs


async def test_an_interrupted_move_is_made_after_the_restart() -> None:
    setting = Setting()
    async with broker_world(TWO, setting) as world:
        await world.create_topic("t")
        world.append("t", b"a")
        directory = world.broker.logs.directories[1]
        directory.begin_future(NAME, world.partition("t").log, unique="a" * 32, now_ms=0)
    async with broker_world(TWO, setting) as world:
        await until_at(world, "/b")
        future = names.future_directory(NAME, "a" * 32)
        due = world.broker.logs.directories[1].expire(now_ms=world.clock.now_ms())
        assert f"/b/{future}" in due or world.disk.status(f"/b/{future}") is None


async def test_the_later_order_counts() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t")
        world.append("t", b"a")
        world.broker.log_moves.order(NAME, "/b")
        world.broker.log_moves.order(NAME, "/a")
        await world.create_topic("other")
        assert place(world) == "/a"


async def test_a_directory_that_fails_ends_the_move_and_nothing_else() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t")
        world.append("t", b"a")
        world.broker.log_moves.order(NAME, "/b")
        world.broker.logs.directories[1].volume.fail(OSError("broken"))
        await world.create_topic("other")
        assert place(world) == "/a"
        world.append("t", b"b")
        assert world.partition("t").log.log_end_offset == 2


async def test_of_two_logs_that_a_crash_left_the_longer_one_is_kept() -> None:
    async with broker_world(TWO) as world:
        await world.create_topic("t")
        world.append("t", b"a")
        first, second = world.broker.logs.directories
        second.create(NAME, first.logs[NAME].config, now_ms=0)
        world.broker.logs.drop_duplicates(now_ms=0)
        assert NAME in first.logs
        assert NAME not in second.logs
