"""Secrets in the tree: encrypted, read back, and renewed with the secret that encrypts them."""

import pytest

from moldau.broker.settings.configs import Configs
from moldau.broker.settings.stored_secrets import StoredSecrets, is_secret
from moldau.broker.settings.topic_configs import TopicConfigs
from moldau.config.broker.security import SecurityConfig
from moldau.config.topic import TopicConfig
from moldau.config.values import Password
from moldau.coordination.layout.configs import ConfigEntity
from moldau.coordination.layout.roots import PERSISTENT_PATHS, with_parents
from moldau.coordination.memory import MemoryEnsemble, MemoryTree
from moldau.coordination.tree import Create
from moldau.errors import KafkaError
from unit.broker.world import SettableClock

NAME = "listener.name.ssl.ssl.keystore.password"
SETTINGS = {NAME: "sesam", "listener.name.ssl.ssl.keystore.location": "/x"}
ENTITY = ConfigEntity.broker(1)


def secrets_of(secret: str, old: str | None = None) -> StoredSecrets:
    return StoredSecrets(
        SecurityConfig(
            password_encoder_secret=Password(secret),
            password_encoder_old_secret=None if old is None else Password(old),
        )
    )


async def tree_of(clock: SettableClock) -> MemoryTree:
    tree = MemoryEnsemble(clock).connect()
    for path in with_parents(PERSISTENT_PATHS):
        await tree.create(Create(path))
    return tree


async def configs_of(tree: MemoryTree, **static: str) -> Configs:
    texts = {f"password.encoder.{name}.secret".replace("..", "."): value
             for name, value in static.items()}  # fmt: skip
    topics = TopicConfigs(tree, TopicConfig())
    configs = Configs(tree, 1, texts, topics=topics)
    await configs.load()
    return configs


async def test_a_secret_is_stored_encrypted_and_used_in_clear() -> None:
    tree = await tree_of(SettableClock())
    configs = await configs_of(tree, **{"": "of the cluster"})
    await configs.alter(ENTITY, lambda _: SETTINGS)
    assert configs.layers.broker == SETTINGS
    stored = (await tree.get(ENTITY.path)).data
    assert b"sesam" not in stored
    assert b"encryptedPassword:" in stored
    again = await configs_of(tree, **{"": "of the cluster"})
    assert again.layers.broker == SETTINGS
    await again.alter(ENTITY, lambda current: {**current, "log.cleaner.threads": "2"})
    assert again.layers.broker[NAME] == "sesam"


async def test_with_a_new_secret_what_the_old_one_encrypted_is_encrypted_anew() -> None:
    tree = await tree_of(SettableClock())
    await (await configs_of(tree, **{"": "old"})).alter(ENTITY, lambda _: SETTINGS)
    changed = await configs_of(tree, **{"": "new", "old": "old"})
    assert changed.layers.broker == SETTINGS
    assert (await configs_of(tree, **{"": "new"})).layers.broker == SETTINGS


async def test_what_cannot_be_read_is_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    stored = dict(await secrets_of("a").encoded(SETTINGS))
    for secrets in (secrets_of("b"), StoredSecrets(SecurityConfig())):
        caplog.clear()
        assert NAME not in await secrets.decoded(stored)
        assert f"Failed to decode the stored value of {NAME}" in caplog.text


def test_without_a_secret_none_is_stored() -> None:
    with pytest.raises(KafkaError, match="Password encoder secret not configured"):
        StoredSecrets(SecurityConfig()).require(SETTINGS)
    assert is_secret(NAME)
    assert not is_secret("log.dirs")
