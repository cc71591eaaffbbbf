"""The admin client: asks for and changes what a cluster has."""

from moldau.client.admin.acls import Acls
from moldau.client.admin.configs import Configs
from moldau.client.admin.connected import Connected
from moldau.client.admin.description import Description
from moldau.client.admin.group_offsets import GroupOffsets
from moldau.client.admin.groups import Groups
from moldau.client.admin.log_dirs import LogDirs
from moldau.client.admin.offsets import Offsets
from moldau.client.admin.quotas import Quotas
from moldau.client.admin.reassignments import Reassignments
from moldau.client.admin.tokens import Tokens
from moldau.client.admin.topics import Topics
from moldau.client.admin.transactions import Transactions
from moldau.client.admin.users import Users


class Admin(
    Topics,
    Configs,
    Groups,
    GroupOffsets,
    Offsets,
    LogDirs,
    Reassignments,
    Description,
    Transactions,
    Acls,
    Quotas,
    Users,
    Tokens,
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
