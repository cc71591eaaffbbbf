"""The admin client: asks for and changes what a cluster has."""

from moldau.client.admin.acls import AclsArea
from moldau.client.admin.configs import ConfigsArea
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import DescriptionArea
from moldau.client.admin.group_offsets import GroupOffsetsArea
from moldau.client.admin.groups import GroupsArea
from moldau.client.admin.log_dirs import LogDirsArea
from moldau.client.admin.offsets import OffsetsArea
from moldau.client.admin.quotas import QuotasArea
from moldau.client.admin.reassignments import ReassignmentsArea
from moldau.client.admin.tokens import TokensArea
from moldau.client.admin.topics import TopicsArea
from moldau.client.admin.transactions import TransactionsArea
from moldau.client.admin.users import UsersArea


class Admin(
    TopicsArea,
    ConfigsArea,
    GroupsArea,
    GroupOffsetsArea,
    OffsetsArea,
    LogDirsArea,
    ReassignmentsArea,
    DescriptionArea,
    TransactionsArea,
    AclsArea,
    QuotasArea,
    UsersArea,
    TokensArea,
    Connected,
):
    """Asks for and changes what a cluster has, several things at once.

        async with Admin(bootstrap_servers="localhost:9092") as admin:
            created = await admin.create_topics([NewTopic("orders", partitions=6)])
            created.check()

    Methods for several things return `Outcomes`, a mapping with a result for each; looking at
    one that failed raises its error. Requests go to the broker that answers for the thing and
    again elsewhere if that has moved, for as long as `default.api.timeout.ms`.
    """
