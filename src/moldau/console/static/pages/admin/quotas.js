// Quotas of users, clients and addresses.
import { api, apiPath, bytes, cluster, count, Dialog, Empty, Failure, html, Loading, may, useLoad, useState, visible } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { Choice, Confirm, Field, fields, useSend } from "./parts.js";

const KINDS = { user: "user", "client-id": "client", ip: "address" };
const whom = (entity) => Object.entries(entity).map(([kind, name]) => `${KINDS[kind]} ${name === null ? "(default)" : visible(name)}`).join(", ");
const shown = (name, value) => name.endsWith("_byte_rate") ? `${bytes(value)}/s` : name.endsWith("percentage") ? `${value} %` : `${count(value)}/s`;

export function Quotas() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("quotas"), { signal: abort }), [cluster.value]);
  const [wanted, setWanted] = useState("");
  const [dialog, setDialog] = useState(null);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const rows = data.quotas.filter((each) => whom(each.entity).toLowerCase().includes(wanted.toLowerCase()));
  const columns = [
    { name: "For", show: (row) => whom(row.entity) },
    { name: "At most", show: (row) => Object.entries(row.values).map(([name, value]) => html`<div><span class="quiet">${name.replaceAll("_", " ")}</span> ${shown(name, value)}</div>`) },
    ...(may("admin") ? [{ name: "", show: (row) => html`<div class="actions"><button class="small" onClick=${() => setDialog({ set: row })}>Change…</button>
      <button class="small danger" onClick=${() => setDialog({ remove: row })}>Remove…</button></div>` }] : []),
  ];
  const close = () => setDialog(null);
  return html`<${Failure} error=${error} />
    <div class="bar"><${Filter} label="Filter quotas" value=${wanted} onInput=${setWanted} />
      <span class="quiet" role="status">${count(rows.length)} of ${count(data.quotas.length)}</span>
      ${may("admin") && html`<button class="primary" onClick=${() => setDialog({ set: null })}>Set a quota…</button>`}</div>
    ${rows.length ? html`<${Table} label="Quotas" columns=${columns} rows=${rows} keyOf=${(row) => JSON.stringify(row.entity)} />`
      : html`<${Empty} title=${data.quotas.length ? "No quota matches" : "No quotas yet"}><p>${data.quotas.length ? "Clear the filter."
        : "Nobody is slowed down. A default for all users or clients keeps one of them from taking a whole broker."}</p><//>`}
    ${dialog?.set !== undefined && html`<${Set_} row=${dialog.set} known=${data.known} onClose=${close} onDone=${() => { close(); reload(); }} />`}
    ${dialog?.remove && html`<${Confirm} title=${`Remove the quotas of ${whom(dialog.remove.entity)}?`} verb="Remove" method="PATCH" path=${apiPath("quotas")}
      body=${{ entity: dialog.remove.entity, values: Object.fromEntries(Object.keys(dialog.remove.values).map((each) => [each, null])) }}
      onClose=${close} onDone=${reload}><p>The next more general quota counts then, if there is one.</p><//>`}`;
}

function Set_({ row, known, onClose, onDone }) {
  const [kinds, setKinds] = useState(row ? Object.keys(row.entity).join(" ") : "user");
  const { send, error, isBusy } = useSend(onDone);
  const names = Object.entries(kinds === "ip" ? known.addresses : known.clients);
  const submit = (event) => {
    event.preventDefault();
    const given = fields(event.target);
    const entity = row ? row.entity : Object.fromEntries(kinds.split(" ").map((kind) => [kind, given[`name ${kind}`] ?? null]));
    const values = {};
    for (const [name] of names) {
      if (given[name] !== undefined) values[name] = Number(given[name]);
      else if (row?.values[name] !== undefined) values[name] = null;
    }
    send(apiPath("quotas"), "PATCH", { entity, values });
  };
  return html`<${Dialog} title=${row ? `Quotas of ${whom(row.entity)}` : "Set a quota"} onClose=${onClose}>
    <form onSubmit=${submit}><${Failure} error=${error} />
      ${!row && html`<${Choice} label="For" value=${kinds} onChange=${setKinds} choices=${[["user", "a user"], ["client-id", "a client id"], ["user client-id", "a client id of a user"], ["ip", "an address"]]} />
        ${kinds.split(" ").map((kind) => html`<${Field} key=${kind} label=${`The ${KINDS[kind]}`} name=${`name ${kind}`} placeholder="the default, for all without one of their own" />`)}`}
      ${names.map(([name, text]) => html`<${Field} key=${name} label=${text[0].toUpperCase() + text.slice(1)} name=${name} type="number" min="0" step="any" value=${row?.values[name]} placeholder="no limit" />`)}
      <button class="primary" disabled=${isBusy}>Set</button>
    </form><//>`;
}
