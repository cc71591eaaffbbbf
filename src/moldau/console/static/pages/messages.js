// Records of a topic. What is shown is what the address says, so a view can be sent to others.
import { address, api, apiPath, bytes, count, Dialog, Empty, Failure, go, html, may, query, Refused, time, useEffect, useRef, useState, visible, withQuery } from "../lib.js";

const ASKED = ["start", "offset", "from", "to", "limit", "filter", "key", "partitions", "uncommitted"];

async function* lines(path, signal) {
  const answer = await fetch(path, { signal });
  if (!answer.ok) throw new Refused(answer.status, (await answer.json().catch(() => ({}))).message || `HTTP ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const found = (rest + value).split("\n");
    rest = found.pop();
    for (const line of found) if (line) yield JSON.parse(line);
  }
}

export function Messages({ name }) {
  const [rows, setRows] = useState([]);
  const [state, setState] = useState({ isBusy: true });
  const [opened, setOpened] = useState(null);
  const [isProducing, setIsProducing] = useState(false);
  const [turn, setTurn] = useState(0);
  const abort = useRef();
  const asked = new URLSearchParams([...query.value].filter(([each]) => ASKED.includes(each)));
  const text = asked.toString();
  const look = async (cursor) => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    const wanted = new URLSearchParams(asked);
    if (cursor) wanted.set("cursor", cursor);
    else setRows([]);
    setState({ isBusy: true });
    try {
      let fresh = [];
      for await (const line of lines(`${apiPath("topics", name, "messages")}?${wanted}`, mine.signal)) {
        if (line.row) fresh.push(line.row);
        else {
          if (fresh.length) { const found = fresh; fresh = []; setRows((old) => [...old, ...found]); }
          if (line.progress) setState({ isBusy: true, ...line.progress });
          if (line.error) throw new Refused(409, line.error);
          if (line.end) setState({ ...line.end });
        }
      }
    } catch (error) { if (error.name !== "AbortError") setState({ error }); }
  };
  useEffect(() => { look(); return () => abort.current?.abort(); }, [name, text, turn]);
  const isBack = (asked.get("start") || "newest") === "newest";
  const shown = [...rows].sort((one, other) => (isBack ? other.timestamp - one.timestamp : one.timestamp - other.timestamp) ||
    one.partition - other.partition || (isBack ? -1 : 1) * (Number(one.offset) - Number(other.offset)));
  return html`
    <${Query} key=${text} asked=${asked} onAgain=${() => setTurn(turn + 1)} onProduce=${may("operator") && (() => setIsProducing(true))} name=${name} />
    <${Failure} error=${state.error} />
    <p class="bar" role="status">
      <span>${state.isBusy ? "Looking… " : ""}${state.scanned !== undefined && html`${count(state.scanned)} records looked at (${bytes(state.bytes)}) in ${(state.ms / 1000).toFixed(1)} s, ${count(rows.length)} shown`}</span>
      ${state.isBusy && html`<button class="small" onClick=${() => { abort.current?.abort(); setState({ ...state, isBusy: false }); }}>Stop</button>`}
      ${!state.isBusy && state.cursor && html`<button class="small primary" onClick=${() => look(state.cursor)}>Go on</button>`}
      ${!state.isBusy && state.stopped && html`<span class="quiet">${{ end: "That is all there is.", limit: "There may be more.", budget: "Stopped after a while; there is more to look at." }[state.stopped]}</span>`}
    </p>
    ${rows.length === 0 && !state.isBusy && !state.error && html`<${Empty} title="No records">
      <p>${text ? "Nothing matches in what was looked at: change the filter, begin elsewhere, or go on." : "The topic is empty. Produce a record, or wait for a producer."}</p><//>`}
    ${shown.length > 0 && html`<div class="table" role="region" aria-label="Records" tabindex="0"><table>
      <caption class="hidden">Records</caption>
      <thead><tr><th scope="col">Time</th><th scope="col" class="number">Partition</th><th scope="col" class="number">Offset</th><th scope="col">Key</th><th scope="col">Value</th></tr></thead>
      <tbody>${shown.map((row) => html`<tr key=${`${row.partition}-${row.offset}`} onClick=${() => setOpened(row)}>
        <td class="when"><button class="link" onClick=${() => setOpened(row)}>${time(row.timestamp)}</button></td>
        <td class="number">${row.partition}</td><td class="number">${count(row.offset)}</td>
        <td class="code"><${Part} part=${row.key} /></td><td class="code"><${Part} part=${row.value} /></td></tr>`)}</tbody>
    </table></div>`}
    ${opened && html`<${Record} name=${name} row=${opened} onClose=${() => setOpened(null)} />`}
    ${isProducing && html`<${Produce} name=${name} onClose=${() => setIsProducing(false)} onDone=${() => { setIsProducing(false); setTurn(turn + 1); }} />`}`;
}

// Null, empty and tombstone are three things, and look like three.
function Part({ part }) {
  if (["null", "empty", "tombstone"].includes(part.kind)) return html`<span class="mark">${part.kind}</span>`;
  const text = part.kind === "hex" ? part.text.split("\n")[0].slice(10, 57).trim() : part.text;
  return html`${part.kind === "hex" && html`<span class="mark">bytes</span> `}<span class="cut">${visible(text.slice(0, 240))}${part.is_cut || text.length > 240 ? "…" : ""}</span>`;
}

function Query({ asked, onAgain, onProduce, name }) {
  const [start, setStart] = useState(asked.get("start") || "newest");
  const submit = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const changes = Object.fromEntries(ASKED.map((each) => [each, form.get(each) || ""]));
    for (const each of ["from", "to"]) if (changes[each]) changes[each] = new Date(changes[each]).toISOString();
    if (changes.start === "newest") changes.start = "";
    if (changes.limit === "50") changes.limit = "";
    const url = withQuery(changes);
    if (url === address.value) onAgain(); else go(url);
  };
  const local = (text) => { if (!text) return ""; const at = new Date(text); return new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19); };
  const link = (format) => `${apiPath("topics", name, "export")}?${new URLSearchParams([...asked, ["format", format], ["limit", "1000"]].filter(([each], index, all) => each !== "limit" || index === all.length - 1))}`;
  return html`<form class="query" onSubmit=${submit}>
    <label class="wide">Filter <input name="filter" data-filter defaultValue=${asked.get("filter") || ""} placeholder=${'value.user = "anna" and value.amount > 10   or just: timeout'} autocomplete="off" spellcheck=${false} /></label>
    <label>Begin at <select name="start" value=${start} onChange=${(event) => setStart(event.target.value)}>
      <option value="newest">the newest</option><option value="oldest">the oldest</option><option value="offset">an offset</option><option value="time">a time</option></select></label>
    ${start === "offset" && html`<label>Offset <input name="offset" type="number" min="0" required defaultValue=${asked.get("offset") || "0"} /></label>`}
    ${start === "time" && html`<label>From <input name="from" type="datetime-local" step="1" required defaultValue=${local(asked.get("from"))} /></label>
      <label>To <input name="to" type="datetime-local" step="1" defaultValue=${local(asked.get("to"))} /></label>`}
    <label>Key <input name="key" defaultValue=${asked.get("key") || ""} placeholder="its partition alone" /></label>
    <label>Partitions <input name="partitions" size="8" pattern="[0-9,]*" defaultValue=${asked.get("partitions") || ""} placeholder="all" /></label>
    <label>Show <input name="limit" type="number" min="1" max="1000" defaultValue=${asked.get("limit") || "50"} /></label>
    <label class="check"><input type="checkbox" name="uncommitted" value="1" defaultChecked=${asked.get("uncommitted") === "1"} /> Aborted and open transactions</label>
    <div class="actions"><button class="primary">Look</button>
      ${onProduce && html`<button type="button" onClick=${onProduce}>Produce…</button>`}
      <a class="button" download href=${link("jsonl")}>JSON lines</a><a class="button" download href=${link("csv")}>CSV</a></div>
  </form>`;
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

function Record({ name, row, onClose }) {
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
  return html`<${Dialog} title=${`Partition ${row.partition}, offset ${row.offset}`} onClose=${onClose}>
    <${Failure} error=${error} />
    <p class="quiet">${time(row.timestamp)}</p>
    <div class="actions" role="group" aria-label="How it is shown">${["pretty", "raw", "hex"].map((each) => html`
      <button class="small" aria-pressed=${form === each} onClick=${() => setForm(each)}>${each}</button>`)}</div>
    <h3>Value</h3>${show(found.value, "value")}
    <h3>Key</h3>${show(found.key, "key")}
    <h3>Headers</h3>${found.headers.length ? html`<dl class="pairs">${found.headers.map(([each, part]) => html`<dt>${visible(each)}</dt><dd class="code"><${Part} part=${part} /></dd>`)}</dl>` : html`<p class="quiet">none</p>`}
  <//>`;
}

function Produce({ name, onClose, onDone }) {
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target), headers = {};
    for (const line of form.get("headers").split("\n")) {
      const [key, ...value] = line.split("=");
      if (key.trim()) headers[key.trim()] = value.join("=").trim();
    }
    const body = { key: form.get("key") || null, value: form.get("tombstone") ? null : form.get("value"), headers };
    try { await api(apiPath("topics", name, "messages"), { method: "POST", body }); onDone(); } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${`Produce to ${visible(name)}`} onClose=${onClose}>
    <form onSubmit=${submit}><${Failure} error=${error} />
      <label>Key; none if it is left empty <input name="key" /></label>
      <label>Value <textarea name="value" rows="6"></textarea></label>
      <label class="check"><input type="checkbox" name="tombstone" value="1" /> No value: a tombstone</label>
      <label>Headers, one name=value per line <textarea name="headers" rows="2"></textarea></label>
      <button class="primary">Produce</button></form><//>`;
}
