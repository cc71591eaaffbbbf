// A topic that gets more partitions, or loses its oldest records.
import { apiPath, count, Dialog, Failure, html, useState, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { Choice, Confirm, Field, fields, useSend } from "./parts.js";

export function Grow({ name, count: old, onClose, onDone }) {
  const { send, error, isBusy } = useSend(onDone);
  const submit = (event) => { event.preventDefault(); send(apiPath("topics", name, "partitions"), "POST", { total: Number(fields(event.target).total) }); };
  return html`<${Dialog} title="Add partitions" onClose=${onClose}><form onSubmit=${submit}><${Failure} error=${error} />
    <p>It has ${count(old)} now, and can never have fewer again. Records that are there stay where they are, but <strong>a key may go to another partition from now on</strong>: the order of its records is lost there.</p>
    <${Field} label="Partitions in all" name="total" type="number" min=${old + 1} required autofocus />
    <button class="primary" disabled=${isBusy}>Add</button></form><//>`;
}

const TARGETS = [["duration", "older than so many hours"], ["time", "before a time"], ["offset", "before an offset, in each partition"], ["latest", "all that there are"]];

export function Cut({ name, onClose, onDone }) {
  const [to, setTo] = useState("duration");
  const [plan, setPlan] = useState(null);
  const planning = useSend(setPlan);
  const path = apiPath("topics", name, "delete-records");
  const show = (event) => {
    event.preventDefault();
    const given = fields(event.target).value;
    const value = to === "time" ? new Date(given).toISOString() : to === "duration" ? String(Math.round(Number(given) * 3600000)) : given;
    planning.send(`${path}/plan`, "POST", { to, value });
  };
  const gone = (row) => Math.max(row.before - row.start, 0);
  const changes = plan ? plan.changes.filter((each) => gone(each) > 0) : [];
  const total = changes.reduce((sum, each) => sum + gone(each), 0);
  const columns = [
    { name: "Partition", kind: "number", show: (row) => row.partition },
    { name: "Begins at", kind: "number", show: (row) => count(row.start) },
    { name: "Then at", kind: "number", show: (row) => count(row.before) },
    { name: "Records less", kind: "number", show: (row) => count(gone(row)) },
  ];
  if (plan?.isChosen) return html`<${Confirm} title=${`Delete ${count(total)} records of ${visible(name)}?`} verb="Delete the records" typed=${name} path=${path}
    body=${{ before: Object.fromEntries(changes.map((each) => [each.partition, each.before])) }} onClose=${onClose} onDone=${onDone}>
    <p>They cannot be brought back. Groups that have not read them go on after them.</p><//>`;
  return html`<${Dialog} title="Delete records" onClose=${onClose}>
    <form onSubmit=${show} onInput=${() => setPlan(null)}><${Failure} error=${planning.error} />
      <${Choice} label="Which" value=${to} choices=${TARGETS} onChange=${(text) => { setTo(text); setPlan(null); }} />
      ${to === "duration" && html`<${Field} label="Hours" name="value" type="number" min="0" step="any" required />`}
      ${to === "time" && html`<${Field} label="Time, in the zone of this browser" name="value" type="datetime-local" step="1" required />`}
      ${to === "offset" && html`<${Field} label="Offset" name="value" type="number" min="0" required />`}
      <button class=${plan ? "" : "primary"} disabled=${planning.isBusy}>Show the plan</button></form>
    ${plan && (changes.length ? html`<${Table} label="The plan" columns=${columns} rows=${changes} keyOf=${(row) => row.partition} />
      <button class="danger" onClick=${() => setPlan({ ...plan, isChosen: true })}>Delete ${count(total)} records…</button>`
      : html`<p class="notice">No record would be deleted.</p>`)}
  <//>`;
}
