// Records as a table, and one of them whole.
import { api, apiPath, Badge, bytes, cluster, Command, console_, count, Dialog, Failure, html, later, may, quoted, time, useEffect, useState, visible } from "../lib.js";

const Produce = later(() => import("./producing.js"), "Produce");
const STATES = { aborted: "bad", open: "warn", "commit marker": "plain", "abort marker": "plain" };

// The paths that an address names, as the server splits them.
export const columnsOf = (asked) => ((asked.get("columns") || "").match(/(?:"[^"]*"|[^,"])+/g) || []).map((each) => each.trim()).filter(Boolean);

export function Rows({ name, rows, columns = [] }) {
  const [opened, setOpened] = useState(null);
  return html`<div class="table" role="region" aria-label="Records" tabindex="0"><table>
      <caption class="hidden">Records</caption>
      <thead><tr><th scope="col">Time</th><th scope="col" class="number">Partition</th><th scope="col" class="number">Offset</th>${columns.map((each) => html`<th scope="col">${visible(each)}</th>`)}<th scope="col">Key</th><th scope="col">Value</th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${`${row.partition}-${row.offset}`} class=${row.state ? "special" : ""} onClick=${() => setOpened(row)}>
        <td class="when"><button class="link" onClick=${() => setOpened(row)}>${time(row.timestamp)}</button></td>
        <td class="number">${row.partition}</td><td class="number">${count(row.offset)}</td>
        ${columns.map((_, at) => html`<td class="code picked" title=${visible(row.columns?.[at] ?? "")}>${visible(row.columns?.[at] ?? "")}</td>`)}
        ${row.state?.endsWith("marker") ? html`<td></td><td><${Badge} kind="plain">${row.state}<//></td>` : html`
        <td class="code key"><${Part} part=${row.key} /></td>
        <td class="code">${row.state && html`<${Badge} kind=${STATES[row.state]}>${row.state}<//> `}<${Part} part=${row.value} /></td>`}</tr>`)}</tbody>
    </table></div>
    ${opened && html`<${Record} name=${name} row=${opened} onClose=${() => setOpened(null)} />`}`;
}

// Null, empty and tombstone are three things, and look like three.
function Part({ part }) {
  if (["null", "empty", "tombstone"].includes(part.kind)) return html`<span class="mark">${part.kind}</span>`;
  const by = part.registered;
  if (by?.text !== undefined) return html`<span class="mark" title=${`Schema ${by.schema} of the registry`}>${by.format.toLowerCase()}</span> <span class="cut">${visible(by.text.slice(0, 240))}${by.is_cut || by.text.length > 240 ? "…" : ""}</span>`;
  const text = part.kind === "hex" ? part.text.split("\n")[0].slice(10, 57).trim() : part.text;
  return html`${part.kind === "hex" && html`<span class="mark">bytes</span> `}<span class="cut">${visible(text.slice(0, 240))}${part.is_cut || text.length > 240 ? "…" : ""}</span>`;
}

// Lays out JSON as text: numbers stay as they were written, whatever their size.
export function pretty(text) {
  let out = "", depth = 0, isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (isText) {
      out += letter;
      if (letter === "\\") { at += 1; out += text[at] ?? ""; } else if (letter === '"') isText = false;
    } else if (letter === '"') { isText = true; out += letter; }
    else if (letter === "{" || letter === "[") {
      const close = letter === "{" ? "}" : "]";
      const rest = text.slice(at + 1).match(/^\s*/)[0].length;
      if (text[at + 1 + rest] === close) { out += letter + close; at += 1 + rest; } else { depth += 1; out += letter + "\n" + "  ".repeat(depth); }
    } else if (letter === "}" || letter === "]") { depth = Math.max(depth - 1, 0); out += "\n" + "  ".repeat(depth) + letter; }
    else if (letter === ",") out += ",\n" + "  ".repeat(depth);
    else if (letter === ":") out += ": ";
    else if (!/\s/.test(letter)) out += letter;
  }
  return out;
}

function commands(name, { partition, offset }) {
  const servers = quoted(console_.value.servers[cluster.value] || "localhost:9092");
  return [
    `kcat -C -b ${servers} -t ${quoted(name)} -p ${partition} -o ${offset} -c 1`,
    `kafka-console-consumer.sh --bootstrap-server ${servers} --topic ${quoted(name)} --partition ${partition} --offset ${offset} --max-messages 1`,
    `curl ${quoted(location.origin + apiPath("topics", name, "messages", partition, offset))}`,
  ];
}

function Record({ name, row, onClose }) {
  const [isReplaying, setIsReplaying] = useState(false);
  const [whole, setWhole] = useState(null);
  const [error, setError] = useState(null);
  const [form, setForm] = useState("pretty");
  const path = apiPath("topics", name, "messages", row.partition, row.offset);
  useEffect(() => { api(path).then(setWhole, setError); }, [path]);
  const show = (part, which) => {
    if (["null", "empty", "tombstone"].includes(part.kind)) return html`<p><span class="mark">${part.kind}</span></p>`;
    const by = form === "pretty" ? part.registered : null;
    const note = by ? (by.error ? html`<p class="quiet">Schema ${by.schema} of the registry: not decoded. ${visible(by.error)}</p>` : html`<p class="quiet">${by.format}, schema ${by.schema} of the registry${by.is_cut ? "; the beginning is shown" : ""}</p>`) : null;
    const text = by?.text !== undefined ? pretty(by.text) : form === "hex" ? part.hex ?? "…" : part.kind === "json" && form === "pretty" && !part.is_cut ? pretty(part.text) : part.text;
    return html`<p class="quiet">${part.kind}, ${bytes(part.size)}${part.is_cut ? "; the beginning is shown" : ""} · <a href=${`${path}?download=${which}`} download>download</a></p>${note}
      <pre tabindex="0">${visible(text)}</pre>`;
  };
  const found = whole || row;
  if (isReplaying) return html`<${Produce} name=${name} from=${found} onClose=${onClose} onDone=${onClose} />`;
  return html`<${Dialog} title=${`Partition ${row.partition}, offset ${row.offset}`} onClose=${onClose}>
    <${Failure} error=${error} />
    <p class="quiet">${time(row.timestamp)}${row.state ? ` · ${row.state}` : ""}</p>
    <div class="actions" role="group" aria-label="How it is shown">${["pretty", "raw", "hex"].map((each) => html`
      <button class="small" aria-pressed=${form === each} onClick=${() => setForm(each)}>${each}</button>`)}
      ${may("operator") && whole && !row.state?.endsWith("marker") && html`<button class="small" onClick=${() => setIsReplaying(true)}>Replay…</button>`}</div>
    <h3>Value</h3>${show(found.value, "value")}
    <h3>Key</h3>${show(found.key, "key")}
    <h3>Headers</h3>${found.headers.length ? html`<dl class="pairs">${found.headers.map(([each, part]) => html`<dt>${visible(each)}</dt><dd class="code"><${Part} part=${part} /></dd>`)}</dl>` : html`<p class="quiet">none</p>`}
    <details><summary>Read it elsewhere</summary>${commands(name, row).map((text) => html`<p><${Command} text=${text} /></p>`)}</details>
    ${found.headers_count && html`<p class="quiet">The first ${found.headers.length} of ${count(found.headers_count)}.</p>`}
  <//>`;
}
