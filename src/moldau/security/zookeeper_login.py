"""The login of a session with ZooKeeper, set as users of Java's Kafka set it.

Kafka has no setting for this: Java gets a login file with a section `Client`, by the
system property `java.security.auth.login.config` in `KAFKA_OPTS`. That works here as well;
the setting `moldau.zookeeper.sasl.jaas.config` does it without a file.
"""

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from moldau.config.values import config_error
from moldau.security.digest_md5 import Credentials, DigestMd5Client
from moldau.security.jaas import LoginModule, read_jaas_file, read_login_module

SETTING = "moldau.zookeeper.sasl.jaas.config"
FILE_PROPERTY = "java.security.auth.login.config"
_IS_ON_PROPERTY = "zookeeper.sasl.client"
_SECTION_PROPERTY = "zookeeper.sasl.clientconfig"
_SECTION = "Client"
_MODULE = "DigestLoginModule"
# ZooKeeper's servers all go by this name, wherever they are.
_SERVICE = "zookeeper/zk-sasl-md5"

BeginLogin = Callable[[], DigestMd5Client]


def find_login(setting: str | None, java_properties: Mapping[str, str]) -> BeginLogin | None:
    """What begins an exchange, for every connection anew; None without a login."""
    module = _from_file(java_properties) if setting is None else read_login_module(setting, SETTING)
    if module is None:
        return None
    where = SETTING if setting is not None else java_properties[FILE_PROPERTY]
    if module.name.rpartition(".")[2] != _MODULE:
        raise config_error(f"{where}: {module.name} is not available, only {_MODULE} is")
    if not {"username", "password"} <= module.options.keys():
        raise config_error(f"{where}: {_MODULE} needs a username and a password")
    credentials = Credentials(module.options["username"], module.options["password"])
    return lambda: DigestMd5Client(credentials, secrets.token_hex(16), service=_SERVICE)


def _from_file(java_properties: Mapping[str, str]) -> LoginModule | None:
    path = java_properties.get(FILE_PROPERTY)
    if path is None or java_properties.get(_IS_ON_PROPERTY, "true") == "false":
        return None
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise config_error(f"{FILE_PROPERTY}: {path}: {error.strerror or error}") from error
    section = java_properties.get(_SECTION_PROPERTY, _SECTION)
    modules = read_jaas_file(text, path).get(section)
    return None if modules is None else modules[0]
