// Records of a topic. What is shown is what the address says, so a view can be sent to others.
import { address, apiPath, bytes, count, Empty, Failure, go, html, later, lines, may, query, Refused, useEffect, useRef, useState, withQuery } from "../lib.js";
import { columnsOf, Rows } from "./records.js";

export const ASKED = ["start", "offset", "from", "to", "limit", "filter", "key", "partitions", "columns", "uncommitted"];
const Live = later(() => import("./live.js"), "Live");
const Produce = later(() => import("./producing.js"), "Produce");
const Transfer = later(() => import("./transfer.js"), "Transfer");

export function Messages({ name }) {
  const [dialog, setDialog] = useState(null);
  const [turn, setTurn] = useState(0);
  const asked = new URLSearchParams([...query.value].filter(([each]) => ASKED.includes(each)));
  const text = asked.toString(), again = () => setTurn((old) => old + 1), close = () => setDialog(null);
  return html`
    <${Query} key=${text} asked=${asked} onAgain=${again} onOpen=${may("operator") && setDialog} name=${name} />
    ${asked.get("start") === "live" ? html`<${Live} key=${text + turn} name=${name} asked=${asked} />`
      : html`<${Look} key=${name} name=${name} asked=${asked} turn=${turn} />`}
    ${dialog === "produce" && html`<${Produce} name=${name} onClose=${close} onDone=${() => { close(); again(); }} />`}
    ${["import", "replay"].includes(dialog) && html`<${Transfer} kind=${dialog} name=${name} asked=${asked} onClose=${() => { close(); again(); }} />`}`;
}

function Look({ name, asked, turn }) {
  const [rows, setRows] = useState([]);
  const [state, setState] = useState({ isBusy: true });
  const abort = useRef();
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
      for await (const line of lines(`${apiPath("topics", name, "messages")}?${wanted}`, { signal: mine.signal })) {
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
    <${Failure} error=${state.error} />
    <p class="bar" role="status">
      <span>${state.isBusy ? "Looking… " : ""}${state.scanned !== undefined && html`${count(state.scanned)} records looked at (${bytes(state.bytes)}) in ${(state.ms / 1000).toFixed(1)} s, ${count(rows.length)} shown${state.passed ? `; ${count(state.passed)} batches of other times were not opened` : ""}`}</span>
      ${state.isBusy && html`<button class="small" onClick=${() => { abort.current?.abort(); setState({ ...state, isBusy: false }); }}>Stop</button>`}
      ${!state.isBusy && state.cursor && html`<button class="small primary" onClick=${() => look(state.cursor)}>Go on</button>`}
      ${!state.isBusy && state.stopped && html`<span class="quiet">${{ end: "That is all there is.", limit: "There may be more.", budget: "Stopped after a while; there is more to look at." }[state.stopped]}</span>`}
    </p>
    ${rows.length === 0 && !state.isBusy && !state.error && html`<${Empty} title="No records">
      <p>${text ? "Nothing matches in what was looked at: change the filter, begin elsewhere, or go on." : "The topic is empty. Produce a record, or wait for a producer."}</p><//>`}
    ${shown.length > 0 && html`<${Rows} name=${name} rows=${shown} columns=${columnsOf(asked)} />`}`;
}

function Query({ asked, onAgain, onOpen, name }) {
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
  const link = (format) => `${apiPath("topics", name, "export")}?${new URLSearchParams([...asked].filter(([each]) => !["limit", "columns"].includes(each)).concat([["format", format]]))}`;
  return html`<form class="query" onSubmit=${submit}>
    <label class="wide">Filter <input name="filter" data-filter defaultValue=${asked.get("filter") || ""} placeholder=${'value.user = "anna" and value.amount > 10   or just: timeout'} autocomplete="off" spellcheck=${false} /></label>
    <label>Begin at <select name="start" value=${start} onChange=${(event) => setStart(event.target.value)}>
      <option value="newest">the newest</option><option value="oldest">the oldest</option><option value="offset">an offset</option><option value="time">a time</option><option value="live">now, and follow</option></select></label>
    ${start === "offset" && html`<label>Offset <input name="offset" type="number" min="0" required defaultValue=${asked.get("offset") || "0"} /></label>`}
    ${start === "time" && html`<label>From <input name="from" type="datetime-local" step="1" required defaultValue=${local(asked.get("from"))} /></label>
      <label>To <input name="to" type="datetime-local" step="1" defaultValue=${local(asked.get("to"))} /></label>`}
    <label>Key <input name="key" defaultValue=${asked.get("key") || ""} placeholder="its partition alone" /></label>
    <label>Partitions <input name="partitions" size="8" pattern="[0-9,]*" defaultValue=${asked.get("partitions") || ""} placeholder="all" /></label>
    ${start !== "live" && html`<label>Show <input name="limit" type="number" min="1" max="1000" defaultValue=${asked.get("limit") || "50"} /></label>`}
    <label>Columns <input name="columns" defaultValue=${asked.get("columns") || ""} placeholder="value.user, headers.trace" autocomplete="off" spellcheck=${false} /></label>
    <label class="check"><input type="checkbox" name="uncommitted" value="1" defaultChecked=${asked.get("uncommitted") === "1"} /> Aborted and open transactions</label>
    <div class="actions"><button class="primary">Look</button>
      ${onOpen && [["produce", "Produce…"], ["replay", "Replay all…"], ["import", "Import…"]].map(([each, text]) => html`
        <button type="button" onClick=${() => onOpen(each)}>${text}</button>`)}
      ${start !== "live" && html`<span class="exports">Export all as ${[["jsonl", "JSON lines"], ["csv", "CSV"], ["parquet", "Parquet"]].map(([each, text]) => html`
        <a class="button" download href=${link(each)}>${text}</a>`)}</span>`}</div>
  </form>`;
}
