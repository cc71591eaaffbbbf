// Offsets of a connector, and the three steps that change them: stop, change, resume.
import { Badge, Command, Dialog, Empty, Failure, html, may, useState, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { Confirm, useSend } from "./parts.js";

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function Offsets({ data, name, path, act, reload, isBusy }) {
  const [dialog, setDialog] = useState(null);
  if (data.offsets === null) return html`<h2>Offsets</h2><p class="quiet">The worker does not say: Connect has them by REST since 3.6.</p>`;
  const isStopped = data.parts[0]?.state === "STOPPED";
  const columns = [
    { name: "Of", kind: "code", show: (row) => visible(row.partition) }, { name: "At", kind: "code", show: (row) => visible(row.offset) },
    ...(may("operator") && isStopped ? [{ name: "", show: (row) => html`<button class="small" onClick=${() => setDialog({ alter: row })}>Change…</button>` }] : []),
  ];
  return html`<h2>Offsets</h2>
    ${data.offsets.length ? html`<${Table} label="Offsets" columns=${columns} rows=${data.offsets} keyOf=${(row) => row.partition} />`
      : html`<${Empty} title="No offsets yet"><p>The connector has not got anywhere so far, or they were reset: it begins at its beginning.</p><//>`}
    ${may("operator") && html`<details class="notice" open=${isStopped}><summary><strong>Change or reset them</strong></summary><ol class="steps">
      <li>${isStopped ? html`<${Badge} kind="good">✓ stopped<//>` : html`<button class="small" disabled=${isBusy} onClick=${() => act("stop")}>Stop it</button>`} Its tasks end; offsets cannot be changed under them.
        <${Command} text=${curl("PUT", data, name, "stop")} /></li>
      <li><button class="small danger" disabled=${!isStopped} onClick=${() => setDialog({ reset: true })}>Reset all…</button> or change single ones in the table above.
        <${Command} text=${curl("DELETE", data, name, "offsets")} /></li>
      <li><button class="small" disabled=${!isStopped || isBusy} onClick=${() => act("resume")}>Resume it</button> It goes on from there.
        <${Command} text=${curl("PUT", data, name, "resume")} /></li></ol></details>`}
    ${dialog?.reset && html`<${Confirm} title=${`Reset all offsets of ${visible(name)}?`} verb="Reset" method="DELETE" path=${`${path}/offsets`} typed=${name} onClose=${() => setDialog(null)} onDone=${reload}>
      <p>A source reads everything again and writes it to its topics again; a sink writes again what its topics have.</p><//>`}
    ${dialog?.alter && html`<${Alter} row=${dialog.alter} path=${path} onClose=${() => setDialog(null)} onDone=${() => { setDialog(null); reload(); }} />`}`;
}

const curl = (method, data, name, what) => `curl -X ${method} ${quote(`${data.address}/connectors/${encodeURIComponent(name)}/${what}`)}`;

function Alter({ row, path, onClose, onDone }) {
  const [wrong, setWrong] = useState(null);
  const { send, error, isBusy } = useSend(onDone);
  const submit = (event) => {
    event.preventDefault();
    let offset;
    try { offset = JSON.parse(new FormData(event.target).get("offset")); } catch (failure) { setWrong(new Error(`That is no JSON: ${failure.message}`)); return; }
    setWrong(null);
    send(`${path}/offsets`, "PATCH", { offsets: [{ partition: JSON.parse(row.partition), offset }] });
  };
  return html`<${Dialog} title="Change an offset" onClose=${onClose}><form onSubmit=${submit}><${Failure} error=${wrong || error} />
    <p><code>${visible(row.partition)}</code></p>
    <label>Offset as JSON; null forgets it <textarea name="offset" rows="3" required spellcheck="false">${row.offset}</textarea></label>
    <button class="primary" disabled=${isBusy}>Set</button></form><//>`;
}
