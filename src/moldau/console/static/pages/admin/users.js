// Users with SCRAM passwords. A password goes to the console's server once, and never comes back.
import { api, apiPath, cluster, count, Dialog, Empty, Failure, html, Loading, may, useLoad, useState, visible } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { Choice, Confirm, Field, fields, useSend } from "./parts.js";

export function Users() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("users"), { signal: abort }), [cluster.value]);
  const [wanted, setWanted] = useState("");
  const [dialog, setDialog] = useState(null);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const rows = data.users.filter((each) => each.user.toLowerCase().includes(wanted.toLowerCase()));
  const columns = [
    { name: "User", show: (row) => visible(row.user) },
    { name: "Passwords", show: (row) => row.error || row.credentials.map((each) => `${each.mechanism}, ${count(each.iterations)} iterations`).join("; ") },
    ...(may("admin") ? [{ name: "", show: (row) => html`<div class="actions"><button class="small" onClick=${() => setDialog({ put: row.user })}>Set password…</button>
      <button class="small danger" onClick=${() => setDialog({ remove: row.user })}>Remove…</button></div>` }] : []),
  ];
  const close = () => setDialog(null);
  return html`<${Failure} error=${error} />
    <div class="bar"><${Filter} label="Filter users" value=${wanted} onInput=${setWanted} />
      <span class="quiet" role="status">${count(rows.length)} of ${count(data.users.length)}</span>
      ${may("admin") && html`<button class="primary" onClick=${() => setDialog({ put: "" })}>Add a user…</button>`}</div>
    ${rows.length ? html`<${Table} label="Users" columns=${columns} rows=${rows} keyOf=${(row) => row.user} />`
      : html`<${Empty} title=${data.users.length ? "No user matches" : "No users with SCRAM passwords yet"}><p>${data.users.length ? "Clear the filter."
        : "Add one. Clients log in with it where a listener has SASL with SCRAM; what they may do then is said by rules."}</p><//>`}
    ${dialog?.put !== undefined && html`<${Put} user=${dialog.put} onClose=${close} onDone=${() => { close(); reload(); }} />`}
    ${dialog?.remove && html`<${Confirm} title=${`Remove the user ${visible(dialog.remove)}?`} verb="Remove" method="DELETE" path=${apiPath("users", dialog.remove)}
      typed=${dialog.remove} onClose=${close} onDone=${reload}><p>All SCRAM passwords of the user go. Who is logged in stays so until the connection ends. Access rules and quotas stay.</p><//>`}`;
}

function Put({ user, onClose, onDone }) {
  const { send, error, isBusy } = useSend(onDone);
  const submit = (event) => {
    event.preventDefault();
    const { iterations, ...given } = fields(event.target);
    send(apiPath("users"), "PUT", { ...given, user: user || given.user, iterations: Number(iterations) });
  };
  return html`<${Dialog} title=${user ? `Set a password of ${visible(user)}` : "Add a user"} onClose=${onClose}>
    <form onSubmit=${submit} autocomplete="off"><${Failure} error=${error} />
      ${!user && html`<${Field} label="Name" name="user" required autofocus autocomplete="off" />`}
      <${Field} label="Password" name="password" type="password" required maxlength="1000" autocomplete="new-password" hint="It is hashed by the console; brokers keep the hash alone." />
      <${Choice} label="Mechanism" name="mechanism" choices=${["SCRAM-SHA-512", "SCRAM-SHA-256"]} />
      <${Field} label="Iterations" name="iterations" type="number" min="4096" max="16384" value="4096" required />
      <button class="primary" disabled=${isBusy}>${user ? "Set" : "Add"}</button>
    </form><//>`;
}
