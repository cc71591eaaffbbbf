// Many partitions at once: a plan that spreads them over brokers, then moves that are slowed down.
import { api, apiPath, at, bytes, cluster, count, Dialog, Failure, html, Loading, useLoad, useState, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { Field, fields, useSend } from "./parts.js";

const change = ([before, after], show) => (before === after ? show(before) : `${show(before)} → ${show(after)}`);
const names = (text) => (text || "").split(/[\s,]+/).filter(Boolean);

export const planColumns = [
  { name: "Partition", show: (row) => html`<a href=${at("topics", row.topic, "partitions")}>${visible(row.topic)}-${row.partition}</a>` },
  { name: "Now on", show: (row) => row.old.join(", ") },
  { name: "Then on", show: (row) => row.new.join(", ") },
  { name: "To copy", kind: "number", show: (row) => bytes(row.copied_bytes) },
];

const loadColumns = [
  { name: "Broker", show: (row) => row.id },
  { name: "Replicas", kind: "number", show: (row) => change(row.replicas, count) },
  { name: "Leads", kind: "number", show: (row) => change(row.leads, count) },
  { name: "Bytes", kind: "number", show: (row) => change(row.bytes, bytes) },
];

export function Spread({ onClose, onDone }) {
  const { data, error } = useLoad((abort) => api(apiPath(), { signal: abort }), [cluster.value]);
  const [plan, setPlan] = useState(null);
  const planning = useSend(setPlan);
  const show = (event) => {
    event.preventDefault();
    const brokers = [...event.target.querySelectorAll("[name=broker]:checked")].map((each) => Number(each.value));
    planning.send(apiPath("reassignments", "spread"), "POST", { topics: names(fields(event.target).topics), brokers });
  };
  return html`<${Dialog} title="Spread partitions" onClose=${onClose}><${Failure} error=${error} />
    ${!data ? !error && html`<${Loading} />` : html`
      <form onSubmit=${show} onInput=${() => setPlan(null)}><${Failure} error=${planning.error} />
        <${Field} label="Topics" name="topics" placeholder="orders, payments" autofocus hint="All if it is empty." />
        <fieldset><legend>Brokers that are to have them, all if none is chosen</legend>${data.brokers.map((each) => html`
          <label class="check"><input type="checkbox" name="broker" value=${each.id} defaultChecked /> ${each.id} <span class="quiet">${visible(each.host)}:${each.port}</span></label>`)}
        </fieldset>
        <p class="quiet">The others are emptied. What is spread evenly stays where it is, and no two replicas come to one rack that were apart.</p>
        <button class=${plan ? "" : "primary"} disabled=${planning.isBusy}>Show the plan</button></form>
      ${plan && html`<${Plan} plan=${plan} onDone=${onDone} />`}`}
  <//>`;
}

function Plan({ plan, onDone }) {
  const moving = useSend(onDone);
  const copied = plan.moves.reduce((sum, each) => sum + each.copied_bytes, 0);
  const begin = (event) => {
    event.preventDefault();
    const rate = Math.round(Number(fields(event.target).rate || 0) * 1048576);
    const moves = plan.moves.map((each) => ({ topic: each.topic, partition: each.partition, replicas: each.new }));
    moving.send(apiPath("reassignments"), "POST", rate ? { moves, bytes_per_s: rate } : { moves });
  };
  if (!plan.moves.length) return html`<p class="notice good" role="status">All is spread evenly: nothing to move.</p>`;
  return html`<${Table} label="Brokers" columns=${loadColumns} rows=${plan.brokers} keyOf=${(row) => row.id} />
    <p role="status"><strong>${count(plan.moves.length)} partitions change, ${bytes(copied)} are copied.</strong></p>
    <details><summary>The plan</summary><${Table} label="The plan" columns=${planColumns} rows=${plan.moves} keyOf=${(row) => `${row.topic}-${row.partition}`} /></details>
    <form onSubmit=${begin}><${Failure} error=${moving.error} />
      <${Field} label="At most MiB per second and broker" name="rate" type="number" min="0.01" step="any" hint="No limit if it is empty. A limit stays until it is taken away, on this page." />
      <button class="primary" disabled=${moving.isBusy}>Move ${count(plan.moves.length)} partitions</button></form>`;
}

// How far all moves are together; those that are done are no longer listed.
export function Overall({ moves, begun }) {
  const there = moves.reduce((sum, each) => sum + each.bytes, 0), all = moves.reduce((sum, each) => sum + each.bytes_in_all, 0);
  return html`<p role="status">${count(moves.length)} partitions move${begun > moves.length ? `, ${count(begun - moves.length)} of ${count(begun)} are done` : ""}${all ? html`: <progress max=${all} value=${there} aria-label="Copied in all"></progress> ${bytes(there)} of ${bytes(all)}` : "."}</p>`;
}
