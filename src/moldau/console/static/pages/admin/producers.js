// What the leaders of a topic's partitions remember of producers.
import { api, apiPath, at, Badge, count, Empty, Failure, html, Loading, time, useLoad, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { age } from "./parts.js";

export function Page({ rest: [name] }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("topics", name, "producers"), { signal: abort }), [name]);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const columns = [
    { name: "Partition", kind: "number", show: (row) => row.partition },
    { name: "Producer", kind: "number", show: (row) => row.producer_id },
    { name: "Epoch", kind: "number", show: (row) => row.producer_epoch },
    { name: "Last sequence", kind: "number", show: (row) => row.last_sequence < 0 ? "–" : count(row.last_sequence) },
    { name: "Last wrote", show: (row) => html`<span title=${time(row.last_timestamp)}>${age(data.at_ms - row.last_timestamp)} ago</span>` },
    { name: "Transaction", show: (row) => row.start_offset === null ? html`<span class="quiet">none open</span>` : html`<${Badge} kind="warn">open<//> from offset ${count(row.start_offset)}` },
  ];
  return html`
    ${data.errors.length > 0 && html`<p class="notice warn" role="status">Not known of ${data.errors.map((each) => `partition ${each.partition} (${visible(each.error)})`).join(", ")}.</p>`}
    ${data.producers.length ? html`<${Table} label="Producers" columns=${columns} rows=${data.producers} keyOf=${(row) => `${row.partition}-${row.producer_id}`} />
        <p class="quiet">Idempotent and transactional producers alone are remembered, for producer.id.expiration.ms. See <a href=${at("transactions", "hanging")}>transactions that hang</a>.</p>`
      : html`<${Empty} title="No producers are remembered"><p>Idempotent and transactional producers appear here when they write; others leave no trace.</p><//>`}`;
}
