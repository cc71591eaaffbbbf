import { api, apiPath, at, Badge, bytes, cluster, count, Failure, html, Loading, Title, useLoad, useStream, visible } from "../lib.js";
import { Table } from "../table.js";
import { Configs } from "../configs.js";

export function Brokers() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("brokers"), { signal: abort }), [cluster.value]);
  const versions = useVersions();
  const like = Object.fromEntries((versions.data?.brokers || []).map((each) => [each.id, each]));
  useStream({});
  const columns = [
    { name: "Broker", show: (row) => html`<a href=${at("brokers", row.id)}>${row.id}</a>${row.is_controller && html` <${Badge} kind="good">controller<//>`}` },
    { name: "Address", show: (row) => `${visible(row.host)}:${row.port}` },
    { name: "Rack", show: (row) => visible(row.rack) || html`<span class="quiet">none</span>` },
    { name: "Like Kafka", show: (row) => html`<${Release} row=${like[row.id]} />` },
    { name: "Leads", kind: "number", show: (row) => row.leads },
    { name: "Replicas", kind: "number", show: (row) => row.replicas },
    { name: "In sync", kind: "number", show: (row) => row.in_sync < row.replicas ? html`<${Badge} kind="warn">! ${row.in_sync}<//>` : row.in_sync },
    { name: "Behind by", kind: "number", show: (row) => row.error ? "–" : html`<span title="Records that its replicas lack of what their leaders have">${count(row.directories.reduce((sum, each) => sum + each.lag, 0))}</span>` },
    { name: "On disk", kind: "number", show: (row) => row.error ? html`<${Badge} kind="bad">${row.error}<//>` : bytes(row.directories.reduce((sum, each) => sum + each.bytes, 0)) },
    { name: "Free", kind: "number", show: (row) => row.error ? "–" : row.directories.map((each) => each.usable_bytes >= 0 ? bytes(each.usable_bytes) : "–").join(", ") },
  ];
  return html`<${Title}>Brokers<//><${Failure} error=${error} retry=${reload} />
    ${data ? html`<${Table} label="Brokers" columns=${columns} rows=${data.brokers} keyOf=${(row) => row.id} />` : !error && html`<${Loading} />`}
    <${Features} versions=${versions} />`;
}

const useVersions = () => useLoad((abort) => api(apiPath("versions"), { signal: abort }), [cluster.value]);

// Brokers do not name their release: it is read from the requests that they know.
function Release({ row }) {
  if (!row) return "–";
  if (row.error) return html`<span class="quiet">${row.error}</span>`;
  return html`<span title="The newest release of Apache Kafka whose requests it knows. Brokers do not name their own.">${row.release}</span>${row.protocol && html` <span class="quiet">protocol ${visible(row.protocol)}</span>`}`;
}

const span = (levels) => !levels ? html`<span class="quiet">none</span>` : levels[0] === levels[1] ? levels[0] : levels.join(" to ");

function Features({ versions: { data, error, reload } }) {
  const columns = [
    { name: "Feature", show: (row) => visible(row.name) },
    { name: "Agreed on", show: (row) => span(row.finalized) },
    { name: "Possible", show: (row) => span(row.supported) },
  ];
  return html`<h2>Features of the cluster</h2><${Failure} error=${error} retry=${reload} />
    ${!data ? !error && html`<${Loading} />` : data.features.length ? html`<${Table} label="Features" columns=${columns} rows=${data.features} keyOf=${(row) => row.name} />`
      : html`<p class="quiet">None: a cluster with ZooKeeper agrees on <code>inter.broker.protocol.version</code> in place of features.</p>`}`;
}

export const BrokerConfigs = ({ broker }) => html`
  <${Title} crumbs=${[["Brokers", at("brokers")]]}>Broker ${visible(broker)}<//>
  <${Configs} path=${apiPath("brokers", broker, "configs")} canChange=${false} />`;
