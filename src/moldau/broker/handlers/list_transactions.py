"""ListTransactions (key 66): list the transactions that a broker coordinates (KIP-664).

It is flexible from the start. Version 1 filters by duration (KIP-994).
"""

from moldau.broker.broker import Broker
from moldau.broker.context import Context
from moldau.coordinator.transaction.state import STATES_BY_LABEL
from moldau.coordinator.transaction_coordinator import TransactionFilter
from moldau.errors import ErrorCode
from moldau.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from moldau.security.acls import Operation, ResourceType


async def handle(
    request: ListTransactionsRequest, context: Context, broker: Broker
) -> ListTransactionsResponse:
    labels = request.state_filters
    wanted = TransactionFilter(
        [STATES_BY_LABEL[label] for label in labels if label in STATES_BY_LABEL]
        if labels
        else None,
        frozenset(request.producer_id_filters),
        request.duration_filter,
    )
    found = [
        TransactionState(
            transactional_id=transactional_id,
            producer_id=transaction.producer_id,
            transaction_state=transaction.state.label,
        )
        async for transactional_id, transaction in context.each(
            list(broker.transactions.matching(wanted))
        )
        if broker.authorizer.may(
            context,
            Operation.DESCRIBE,
            ResourceType.TRANSACTIONAL_ID,
            transactional_id,
            log=False,
        )
    ]
    return ListTransactionsResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        unknown_state_filters=[label for label in labels if label not in STATES_BY_LABEL],
        transaction_states=found,
    )
