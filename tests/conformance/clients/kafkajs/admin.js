// Administers the topic and the group of a request, and says what was seen on the way.
const { ConfigResourceTypes } = require('kafkajs');

module.exports = async (admin, { topic, group }) => {
  const seen = {};
  const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
  seen.created = await admin.createTopics({ topics: [{ topic, numPartitions: 2, configEntries }] });
  seen.created_again = await admin.createTopics({ topics: [{ topic }] });
  await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  seen.partitions = topics[0].partitions.map((each) => each.partitionId).sort();

  const resource = { type: ConfigResourceTypes.TOPIC, name: topic };
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ ...resource, configEntries: [{ name: 'retention.ms', value: '123456' }] }],
  });
  const configNames = ['cleanup.policy', 'retention.ms'];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ ...resource, configNames }],
  });
  seen.settings = Object.fromEntries(
    resources[0].configEntries.map((each) => [each.configName, each.configValue]),
  );

  await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '7' }] });
  const [fetched] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  seen.offsets = Object.fromEntries(
    fetched.partitions.map((each) => [each.partition, each.offset]),
  );
  const { groups } = await admin.describeGroups([group]);
  seen.group = [groups[0].groupId, groups[0].state];
  seen.is_listed = (await admin.listGroups()).groups.some((each) => each.groupId === group);
  seen.deleted = (await admin.deleteGroups([group])).map((each) => each.errorCode);

  const { brokers, controller } = await admin.describeCluster();
  seen.brokers = brokers.map((each) => each.nodeId);
  seen.controller = controller;
  await admin.deleteTopics({ topics: [topic] });
  seen.is_gone = !(await admin.listTopics()).includes(topic);
  return seen;
};
