import { api, apiPath, at, Badge, bytes, cluster, count, Failure, html, Loading, Title, useLoad, useStream, visible } from "../lib.js";
import { Table } from "../table.js";
import { Configs } from "../configs.js";

export function Brokers() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("brokers"), { signal: abort }), [cluster.value]);
  useStream({});
  const columns = [
    { name: "Broker", show: (row) => html`<a href=${at("brokers", row.id)}>${row.id}</a>${row.is_controller && html` <${Badge} kind="good">controller<//>`}` },
    { name: "Address", show: (row) => `${visible(row.host)}:${row.port}` },
    { name: "Rack", show: (row) => visible(row.rack) || html`<span class="quiet">none</span>` },
    { name: "Leads", kind: "number", show: (row) => row.leads },
    { name: "Replicas", kind: "number", show: (row) => row.replicas },
    { name: "In sync", kind: "number", show: (row) => row.in_sync < row.replicas ? html`<${Badge} kind="warn">! ${row.in_sync}<//>` : row.in_sync },
    { name: "Behind by", kind: "number", show: (row) => row.error ? "–" : html`<span title="Records that its replicas lack of what their leaders have">${count(row.directories.reduce((sum, each) => sum + each.lag, 0))}</span>` },
    { name: "On disk", kind: "number", show: (row) => row.error ? html`<${Badge} kind="bad">${row.error}<//>` : bytes(row.directories.reduce((sum, each) => sum + each.bytes, 0)) },
    { name: "Free", kind: "number", show: (row) => row.error ? "–" : row.directories.map((each) => each.usable_bytes >= 0 ? bytes(each.usable_bytes) : "–").join(", ") },
  ];
  return html`<${Title}>Brokers<//><${Failure} error=${error} retry=${reload} />
    ${data ? html`<${Table} label="Brokers" columns=${columns} rows=${data.brokers} keyOf=${(row) => row.id} />` : !error && html`<${Loading} />`}`;
}

export const BrokerConfigs = ({ broker }) => html`
  <${Title} crumbs=${[["Brokers", at("brokers")]]}>Broker ${visible(broker)}<//>
  <${Configs} path=${apiPath("brokers", broker, "configs")} canChange=${false} />`;
