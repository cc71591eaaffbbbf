// Transactions: those there are, those that hang, and how they are ended.
import { api, apiPath, at, Badge, cluster, count, Empty, Failure, go, html, Loading, may, Missing, query, Tabs, time, Title, useLoad, useState, visible, withQuery } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { age, Confirm } from "./parts.js";

const STATES = { Ongoing: "warn", PrepareCommit: "warn", PrepareAbort: "warn", CompleteCommit: "good", CompleteAbort: "plain", Empty: "plain", Dead: "bad" };
const ENDED = "Ended: a producer that has the id now is fenced, and gets an error with its next request.";

export function Page({ rest: [name] }) {
  if (name === "hanging") return html`<${Hanging} />`;
  return name === "id" ? html`<${One} id=${query.value.get("id") || ""} key=${query.value.get("id")} />` : html`<${All} />`;
}
const TABS = () => [["All", at("transactions")], ["Hanging", at("transactions", "hanging")]];
const pageOf = (id) => at("transactions", "id") + "?" + new URLSearchParams({ id });

function All() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("transactions"), { signal: abort }), [cluster.value]);
  const wanted = query.value.get("q") || "";
  const rows = (data?.transactions || []).filter((each) => each.id.toLowerCase().includes(wanted.toLowerCase()));
  const columns = [
    { name: "Transactional id", show: (row) => html`<a href=${pageOf(row.id)}>${visible(row.id)}</a>` },
    { name: "State", show: (row) => html`<${Badge} kind=${STATES[row.state] || "plain"}>${row.state}<//>` },
    { name: "Producer", kind: "number", show: (row) => row.producer_id },
    { name: "Coordinator", kind: "number", show: (row) => row.coordinator },
  ];
  return html`<${Title}>Transactions<//><${Tabs} tabs=${TABS()} current="All" /><${Failure} error=${error} retry=${reload} /><${Missing} brokers=${data?.missing} what="transactions" />
    ${!data ? !error && html`<${Loading} />` : !data.transactions.length ? html`<${Empty} title="No transactions yet"><p>A producer with a transactional.id appears here with its first transaction.</p><//>` : html`
      <div class="bar"><${Filter} label="Filter transactions" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
        <span class="quiet" role="status">${count(rows.length)} of ${count(data.transactions.length)}</span></div>
      ${rows.length ? html`<${Table} label="Transactions" columns=${columns} rows=${rows} keyOf=${(row) => row.id} onOpen=${(row) => go(pageOf(row.id))} />`
        : html`<${Empty} title="No transaction matches"><p>Clear the filter.</p><//>`}`}`;
}

function One({ id }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("transactions", id), { signal: abort }), [id]);
  const [isEnding, setIsEnding] = useState(false);
  const [note, setNote] = useState("");
  const partitions = [
    { name: "Topic", show: (row) => html`<a href=${at("topics", row.topic)}>${visible(row.topic)}</a>` },
    { name: "Partition", kind: "number", show: (row) => row.partition },
  ];
  return html`<${Title} crumbs=${[["Transactions", at("transactions")]]} actions=${data && may("admin") && html`<button class="danger" onClick=${() => setIsEnding(true)}>Abort and fence…</button>`}>${visible(id)}<//>
    <${Failure} error=${error} retry=${reload} />
    ${note && html`<p class="notice good" role="status">${note}</p>`}
    ${data ? html`<dl class="cards">
      <div><dt>State</dt><dd><${Badge} kind=${STATES[data.state] || "plain"}>${data.state}<//></dd></div>
      <div><dt>Open for</dt><dd title=${data.start_ms === null ? "" : time(data.start_ms)}>${age(data.age_ms)}</dd></div>
      <div><dt>Timeout</dt><dd>${age(data.timeout_ms)}</dd></div>
      <div><dt>Producer</dt><dd>${data.producer_id}</dd></div><div><dt>Epoch</dt><dd>${data.producer_epoch}</dd></div>
      <div><dt>Coordinator</dt><dd>broker ${data.coordinator}</dd></div></dl>
      ${data.age_ms > data.timeout_ms && html`<p class="notice warn"><strong>It is older than its timeout.</strong> The coordinator should have aborted it: see whether broker ${data.coordinator} is well, or abort it here.</p>`}
      <h2>Partitions in it</h2>
      ${data.partitions.length ? html`<${Table} label="Partitions" columns=${partitions} rows=${data.partitions} keyOf=${(row) => `${row.topic}-${row.partition}`} />`
        : html`<${Empty} title="None now"><p>No transaction of the id is under way.</p><//>`}` : !error && html`<${Loading} />`}
    ${isEnding && html`<${Confirm} title=${`Abort the transaction of ${visible(id)}?`} verb="Abort and fence" typed=${id} path=${apiPath("transactions", id, "fence")}
      onClose=${() => setIsEnding(false)} onDone=${() => { setNote(ENDED); reload(); }}>
      <p>What is under way is aborted, and its records are never read by those who read committed records. A producer that is running with the id is fenced: it fails, and has to be started again.</p><//>`}`;
}

function Hanging() {
  const minutes = query.value.get("minutes") || "15";
  const { data, error, reload } = useLoad((abort) => api(`${apiPath("hanging-transactions")}?minutes=${encodeURIComponent(minutes)}`, { signal: abort }), [cluster.value, minutes]);
  const [ending, setEnding] = useState(null);
  const columns = [
    { name: "Partition", show: (row) => html`<a href=${at("topics", row.topic)}>${visible(row.topic)}-${row.partition}</a>` },
    { name: "Producer", kind: "number", show: (row) => `${row.producer_id}, epoch ${row.producer_epoch}` },
    { name: "Readers wait at", kind: "number", show: (row) => count(row.start_offset) },
    { name: "Open for", kind: "number", show: (row) => html`<span title=${time(row.last_timestamp)}>${age(row.age_ms)}</span>` },
    ...(may("admin") ? [{ name: "", show: (row) => html`<button class="small danger" onClick=${() => setEnding(row)}>Abort…</button>` }] : []),
  ];
  return html`<${Title}>Transactions<//><${Tabs} tabs=${TABS()} current="Hanging" /><${Failure} error=${error} retry=${reload} />
    <p>Transactions that are open on a partition though no coordinator knows of them. Who reads committed records there waits for ever.</p>
    <div class="bar"><label>Older than <input type="number" min="0" value=${minutes} onChange=${(event) => go(withQuery({ minutes: event.target.value }), { replace: true })} /> minutes</label>
      ${data && html`<span class="quiet" role="status">${count(data.searched)} partitions searched${data.unanswered ? `, ${data.unanswered} did not answer` : ""}</span>`}
      <button onClick=${reload}>Search again</button></div>
    ${!data ? !error && html`<${Loading} />` : data.hanging.length ? html`<${Table} label="Hanging transactions" columns=${columns} rows=${data.hanging} keyOf=${(row) => `${row.topic}-${row.partition}-${row.producer_id}`} />`
      : html`<${Empty} title="None hangs"><p>Readers that wait have another cause: a transaction that is still under way, see <a href=${at("transactions")}>All</a>.</p><//>`}
    ${ending && html`<${Confirm} title=${`Abort the transaction on ${visible(ending.topic)}-${ending.partition}?`} verb="Abort" typed=${`${ending.topic}-${ending.partition}`}
      path=${apiPath("hanging-transactions", "abort")} body=${{ topic: ending.topic, partition: ending.partition, producer_id: ending.producer_id, producer_epoch: ending.producer_epoch, coordinator_epoch: Math.max(ending.coordinator_epoch ?? 0, 0) }}
      onClose=${() => setEnding(null)} onDone=${reload}><p>Its records on this partition are never read by those who read committed records.</p><//>`}`;
}
