"""Changes that no test can notice, or need not, each with its reason."""

# module -> the change as bin/mutate prints it -> why it may survive
REASONS: dict[str, dict[str, str]] = {
    "records/validate.py": {
        (
            "_require_single: len(records) > size and entry_at(records, size) is not None"
            " -> entry_at(records, size) is not None"
        ): "equivalent: there is no entry at the end either; saves a call",
        "_require_single: len(records) > size -> len(records) >= size": (
            "equivalent: there is no entry at the end either"
        ),
        "_validate_batch: return _accept(data, header, rules, now_ms, is_rebuilt=False) -> pass": (
            "equivalent: the same header is read once more"
        ),
        "_check_section: max_timestamp < NO_TIMESTAMP -> max_timestamp <= NO_TIMESTAMP": (
            "equivalent: it is set to what it is"
        ),
        "_check_section: 0 -> 1": "equivalent: nobody looks at the offsets of these rows",
    },
    "replication/fetch_session.py": {
        "ReplicaFetchSession.__init__: self.uses_ids = False -> pass": (
            "set again before it is read; there for type checkers"
        ),
    },
    "replication/plain_fetch.py": {
        "_read_topic: 1 -> 2 (10)": "equivalent: any number below 0 says the same",
    },
    "replication/in_sync.py": {
        "InSyncSets._notify_controller: 1000 -> 1001": "a thousandth of a wait",
        "InSyncSets._look_again: 1000 -> 1001": "a thousandth of a wait",
    },
    "replication/isr_notices.py": {
        "module: 5000 -> 5001": "a thousandth of a wait",
        "module: 60000 -> 60001": "a millisecond of a minute",
        "module: 2500 -> 2501": "a thousandth of a wait",
        (
            "IsrNotices.due: now_ms - self._sent_ms > LATEST_MS"
            " -> now_ms - self._sent_ms >= LATEST_MS"
        ): "a millisecond of a minute",
    },
    "replication/partition.py": {
        "Partition.__init__: self._looked_ms = NEVER_MS -> pass": (
            "set again before it is read; there for type checkers"
        ),
        "Partition.__init__: self._produce_rules = ProduceRules() -> pass": (
            "set again before it is read; there for type checkers"
        ),
        (
            "Partition.advance_high_watermark: return"
            " self.log.raise_high_watermark(self.log.settled_end_offset()) -> pass"
        ): "equivalent: the loop below has no followers to look at; saves time",
        (
            "Partition.advance_high_watermark: committed >= 0 and"
            " self.log.raise_high_watermark(committed) -> self.log.raise_high_watermark(committed)"
        ): "equivalent: it is never lowered",
        "Partition.advance_high_watermark: committed >= 0 -> committed > 0": (
            "equivalent: it is never below 0"
        ),
        "Partition.advance_high_watermark: 0 -> 1": "equivalent: it is never below 0",
        "module: 2 -> 3": "equivalent: a time long before all others",
        "module: 62 -> 63": "equivalent: a time long before all others",
    },
    "coordinator/group/consumer/assignor.py": {
        "in_order: each.instance_id or '' -> each.instance_id": (
            "equivalent: those without one are among themselves; there for type checkers"
        ),
    },
    "coordinator/group/consumer/pattern.py": {
        "TopicPattern._reachable: left & -left -> left | -left": "equivalent: of as many bits",
        "module: 2000 -> 2001 (2)": "how many states are remembered",
        "module: 20000 -> 20001": "a twenty-thousandth of a limit",
        "module: 2000000 -> 2000001": "a two-millionth of a limit",
    },
    "coordinator/group/consumer/pattern_syntax.py": {
        "_repeat_count: 1 -> 2": "equivalent: any number above the limit is refused",
    },
    "coordinator/group/consumer/pattern_topics.py": {
        "module: 5000 -> 5001": "a five-thousandth of a turn",
        "PatternTopics.steps: 0 -> 1": "a five-thousandth of a turn",
        "PatternTopics.steps: 0 -> 1 (2)": "a five-thousandth of a turn",
        "PatternTopics.steps: spent > _STEP_WORK -> spent >= _STEP_WORK": (
            "a five-thousandth of a turn"
        ),
    },
    "coordinator/group/consumer/records.py": {
        "encode: True -> False": "equivalent: both lists have one length",
    },
    "coordinator/group/consumer/subscriptions.py": {
        (
            "refresh: isinstance(record, PatternRecord) and record.resolved is not None"
            " -> record.resolved is not None"
        ): "equivalent: there are no others among these; for type checkers",
    },
    "coordinator/group/consumer/target.py": {
        "chosen_assignor: each.assignor or '' -> each.assignor": (
            "equivalent: neither is an assignor; there for type checkers"
        ),
    },
    "coordinator/group/consumer/topics.py": {
        "_racks: return {} -> pass": "equivalent: none are found either; saves looking",
    },
    "coordinator/group/group.py": {
        "Group.describe: self.protocol_name or '' -> self.protocol_name": (
            "equivalent: a stable group has a protocol; there for type checkers"
        ),
    },
    "coordinator/group/groups.py": {
        "Groups.replay: return -> pass": (
            "equivalent: the general codec reads the same offset once more"
        ),
    },
    "coordinator/group/machine.py": {
        "GroupMachine._replace_static: group.leader_id or '' -> group.leader_id": (
            "equivalent: a group with members has a leader; there for type checkers"
        ),
    },
    "coordinator/group/offset_codec.py": {
        "module: 0 -> 1": "equivalent: written over",
        "module: 0 -> 1 (2)": "equivalent: written over",
        "module: 0 -> 1 (4)": "equivalent: written over",
        "encode_all: 4 -> 5": "set again before it is read; there for type checkers",
        "encode_all: 0 -> 1": "set again before it is read; there for type checkers",
        "decode_value: len(value) == _PLAIN_SIZE -> not len(value) == _PLAIN_SIZE": (
            "equivalent: the lines below read the same, slower"
        ),
        "decode_value: 2 -> 3": "equivalent: the general codec reads the same, slower",
        (
            "decode_value: return"
            " Committed(offset, leader_epoch, '', timestamp, -1, log_offset) -> pass"
        ): "equivalent: the lines below read the same, slower",
    },
    "coordinator/group/offsets.py": {
        (
            "Offsets.end_transaction: current.log_offset < stored.log_offset"
            " -> current.log_offset <= stored.log_offset"
        ): "equivalent: two records have not the same offset",
    },
    "coordinator/group/rebalance.py": {
        "Rebalance.__init__: self._has_newcomer = False -> pass": (
            "equivalent: set again before it is read; there for type checkers"
        ),
        "Rebalance._complete: False -> True": "equivalent: set again when the next one begins",
    },
    "controller/admin_nodes.py": {
        "AdminNodes.moves_asked: self._moving = {} -> pass": (
            "harmless: a node that is gone is removed once more"
        ),
        "AdminNodes.look: self._moving = {} -> pass": (
            "harmless: a node that is gone is removed once more"
        ),
    },
    "controller/lookout.py": {
        "Lookout._keep: 1000 -> 1001": "a thousandth of a wait",
    },
    "controller/presence.py": {
        "module: 100 -> 101": "a hundredth of a wait",
        "module: 500 -> 501": "a thousandth of a wait",
        "module: 0 -> 1": "set again before it is read",
    },
    "controller/reassigning.py": {
        (
            "Reassigning.finish: not is_complete or not"
            " self._machine.can_lead(after.replicas, partition) -> not is_complete"
        ): "equivalent: what cannot lead is not settled on; saves reading the node",
        (
            "Reassigning.finish: await self._settle(partition, after)"
            " -> not await self._settle(partition, after)"
        ): "a log line",
    },
    "controller/state_nodes.py": {
        "module: 500 -> 501": "how many are written at once",
        "StateNodes._set_together: True -> False": "equivalent: both lists have one length",
    },
    "controller/topic_loading.py": {
        "module: 500 -> 501": "how many are read at once",
        "TopicLoading.settings: True -> False": "equivalent: both lists have one length",
    },
    "controller/tree_reader.py": {
        "TreeReader.reassignments: return None -> pass": "equivalent: the function ends there",
        "TreeReader._asked: return None -> pass": "equivalent: no node is read; saves trying",
        "TreeReader.features: return None -> pass (2)": "equivalent: the function ends there",
        "TreeReader.assignment: return None -> pass": "equivalent: the function ends there",
        "TreeReader.preferred_elections: return None -> pass": (
            "equivalent: the function ends there"
        ),
        "TreeReader._asked: return None -> pass (2)": "equivalent: the function ends there",
        "TreeReader.features: return None -> pass": "equivalent: the function ends there",
        "TreeReader.settings: return None -> pass": "equivalent: the function ends there",
    },
    "controller/assignment.py": {
        "_ring: True -> False": "equivalent: both lists are the same one",
    },
    "coordinator/group/member.py": {
        "module: False -> True (2)": "what is shown of a member to people",
        "module: False -> True (3)": "what is shown of a member to people",
    },
    "security/plain.py": {
        "PlainServer.answer: expected_password is None or not is_right -> not is_right": (
            "equivalent: no password that is not empty is equal to none; says it twice, on purpose"
        ),
    },
    "security/scram.py": {
        (
            "_drawn_iterations: raise AssertionError('a place is less than the number of users')"
            " -> pass"
        ): "never reached; there for type checkers",
        "ScramServer.__init__: self._message = '' -> pass": "set again before it is read",
    },
    "broker/requests/fetch.py": {
        "FetchOperation._note_sent: return -> pass": (
            "equivalent: no follower has a consumer's id; saves looking for it"
        ),
    },
    "broker/requests/fetched_records.py": {
        "module: 16384 -> 16385": "from which size on records are rewritten in a thread",
        "_read: file_range.size <= _CONVERTED_ON_LOOP_BYTES -> file_range.size <"
        " _CONVERTED_ON_LOOP_BYTES": "where one size is read: on the loop or in a thread",
    },
    "broker/requests/follower_sessions.py": {
        (
            "FollowerSession._forget: name is not None and self._keys.get(name) == key"
            " -> self._keys.get(name) == key"
        ): "equivalent: what has no name has no key; there for type checkers",
        (
            "FollowerSession.note_read: read.error is None and read.diverging is None and"
            " (read.partition is not None) -> read.error is None and read.diverging is None"
        ): "equivalent: what was read without an error is there; for type checkers",
    },
    "broker/requests/offset_requests.py": {
        "module: 200 -> 201": "how many are stored at once",
    },
    "broker/requests/produce.py": {
        "Produce.__init__: self._topic = '' -> pass": "set again before it is read",
    },
    "broker/requests/offset_lookup.py": {
        "segment_starts: 0 -> 1": "equivalent: no segment has one byte",
    },
    "broker/requests/old_offsets.py": {
        "OldOffsets._make: path != '/' and await self._tree.exists(path) is None"
        " -> await self._tree.exists(path) is None": "equivalent: there is a root; saves asking",
        "OldOffsets._create: return -> pass": "equivalent: the function ends there",
        "OldOffsets.set: await self._tree.set(path, data) -> pass (2)": (
            "for two first commits at once: which of them is the last is by chance"
        ),
    },
    "broker/requests/reads.py": {
        (
            "PartitionReader._read: end_offset <= offset <= log.log_end_offset"
            " -> end_offset < offset <= log.log_end_offset"
        ): "equivalent: at the end there is nothing to read; saves looking",
    },
    "broker/requests/replica_wait.py": {
        "ReplicaWait.note: pending and pending[-1].may_be_over -> pending": (
            "equivalent: the look itself finds the same; saves it"
        ),
    },
    "broker/fast/offset_commit.py": {
        "FastOffsetCommit.skip_client: return WRONG -> pass": (
            "equivalent: the connection ends either way; compiled it would look past the end first"
        ),
    },
    "broker/fast/produce.py": {
        (
            "parts: return [encode(produce.topics, version, correlation_id, throttle_ms)] -> pass"
        ): "equivalent: the messages' codec writes the same, slower",
    },
    "broker/fast/produce_frame.py": {
        "RequestFrame.__init__: self.position = self.end = 0 -> pass": (
            "set again before it is read"
        ),
        "RequestFrame.count: return BROKEN -> pass": (
            "equivalent: what is cut off there is refused later; compiled it would look past the"
            " end first"
        ),
    },
    "broker/fast/fetch_frame.py": {
        "_small: 0 < high < 128 -> 0 < high <= 128": (
            "equivalent: no frame that is parsed here has room for so much"
        ),
        "_small: 128 -> 129": "equivalent: no frame that is parsed here has room for so much",
    },
    "broker/quotas/connection_rates.py": {
        "ConnectionRates.delay_s: return 0.0 -> pass": "equivalent: only saves looking for one",
    },
    "broker/quotas/permits.py": {
        "Permits.__init__: 0 -> 1": "equivalent: that moment has passed as well",
    },
    "broker/quotas/rates.py": {
        "SampledRate.span_ms: missing_ms > 0 -> missing_ms >= 0": "equivalent: adds nothing",
    },
}
