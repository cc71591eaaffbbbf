"""The authorizer that the settings ask for, with its rules read."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from moldau.broker.access.audit import Audit
from moldau.broker.access.audit_topic import AuditTopic
from moldau.broker.access.authorizer import AclAuthorizer
from moldau.broker.access.rule_store import AccessRuleStore
from moldau.broker.topics.tree import check_name
from moldau.config.broker.authorizer import AuthorizerConfig, read_authorizer
from moldau.config.broker.startup import Startup
from moldau.config.values import config_error
from moldau.coordination.tree import Tree
from moldau.security.acls import EVERYONE
from moldau.security.authorization import AccessRules
from moldau.security.principals import ANONYMOUS, Principal

if TYPE_CHECKING:
    from moldau.broker.broker import Broker

_log = logging.getLogger(__name__)


async def open_access(broker: "Broker", startup: Startup, tree: Tree) -> None:
    """Give the broker an authorizer, unless the settings want everyone to be allowed."""
    settings = read_authorizer(startup.config, startup.texts)
    if settings is None:
        return
    super_users = tuple(_super_users(settings))
    zookeeper = startup.config.zookeeper
    if not startup.config.is_standalone and not zookeeper.zookeeper_set_acl:
        _log.warning("Any client of ZooKeeper can change access rules: zookeeper.set.acl is false")
    if ANONYMOUS in super_users:
        _log.warning(
            "Clients that do not log in have all permissions: %s is one of super.users", ANONYMOUS
        )
    rules = AccessRules(super_users, is_open_without_rules=settings.allow_everyone_if_no_acl_found)
    store = AccessRuleStore(tree, rules)
    await store.open()
    broker.access_rules = store
    name = startup.config.security.moldau_audit_topic
    if name:
        check_name(name)
        factor = startup.config.general.default_replication_factor
        broker.audit_topic = AuditTopic(name, broker, replication_factor=factor)
    broker.authorizer = AclAuthorizer(rules, Audit(broker.audit_topic))


def _super_users(settings: AuthorizerConfig) -> Iterator[Principal]:
    for name in settings.super_user_names:
        if name == EVERYONE:
            raise config_error(f"super.users: {EVERYONE} does not stand for all users; name them")
        try:
            yield Principal.parse(name)
        except ValueError as error:
            raise config_error(f"super.users: {error}") from error
