// Settings of a topic or broker: the value, the default, what it means; changed one at a time.
import { api, Badge, Dialog, Failure, html, Loading, useLoad, useState, visible } from "./lib.js";
import { Filter, Table } from "./table.js";

export function Configs({ path, canChange }) {
  const { data, error, reload } = useLoad((abort) => api(path, { signal: abort }), [path]);
  const [wanted, setWanted] = useState("");
  const [edited, setEdited] = useState(null);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const rows = data.configs.filter((each) => each.name.includes(wanted.toLowerCase()));
  const value = (text, row) => row.is_sensitive ? html`<span class="quiet">hidden</span>` : text === null ? html`<span class="quiet">none</span>` : text === "" ? html`<span class="quiet">empty</span>` : visible(text);
  const columns = [
    { name: "Setting", show: (row) => html`<button class="link" onClick=${() => setEdited(row)}>${row.name}</button>
      ${row.is_set && html` <${Badge} kind="good">set here<//>`}` },
    { name: "Value", kind: "code", show: (row) => value(row.value, row) },
    { name: "Default", kind: "code", show: (row) => row.is_set && row.default === null ? html`<span class="quiet">not said</span>` : value(row.default, row) },
    { name: "From", show: (row) => row.source },
  ];
  return html`
    <div class="bar"><${Filter} label="Filter settings" value=${wanted} onInput=${setWanted} /></div>
    <${Failure} error=${error} />
    <${Table} label="Settings" columns=${columns} rows=${rows} keyOf=${(row) => row.name} onOpen=${setEdited} />
    ${edited && html`<${Edit} row=${edited} path=${path} canChange=${canChange && !edited.is_read_only}
      onClose=${() => setEdited(null)} onDone=${() => { setEdited(null); reload(); }} />`}`;
}

function Edit({ row, path, canChange, onClose, onDone }) {
  const [text, setText] = useState(row.value ?? "");
  const [error, setError] = useState(null);
  const send = async (value) => {
    try { await api(path, { method: "PATCH", body: { configs: { [row.name]: value } } }); onDone(); }
    catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${row.name} onClose=${onClose}>
    <${Failure} error=${error} />
    <p>${row.documentation || "The broker says nothing about it."}</p>
    <dl class="pairs"><dt>Value</dt><dd><code>${row.is_sensitive ? "hidden" : visible(row.value)}</code></dd>
      <dt>Default</dt><dd><code>${visible(row.default ?? "none")}</code></dd><dt>From</dt><dd>${row.source}</dd></dl>
    ${canChange ? html`<form onSubmit=${(event) => { event.preventDefault(); send(text); }}>
      <label>New value <input value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      <div class="actions"><button class="primary">Set</button>
        ${row.is_set && html`<button type="button" onClick=${() => send(null)}>Back to the default</button>`}</div>
    </form>` : html`<p class="quiet">It cannot be changed here.</p>`}
  <//>`;
}
