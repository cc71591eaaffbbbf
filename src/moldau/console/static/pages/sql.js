// SQL over a part of a topic: the statement is in the address, as every view is.
import { apiPath, bytes, count, Empty, Failure, go, html, lines, query, Refused, useEffect, useRef, useState, visible, withQuery } from "../lib.js";
import { Bars } from "../chart.js";
import { Table } from "../table.js";

const FIRST = "SELECT json->>'$.user' AS who, count(*) AS records\nFROM records GROUP BY 1 ORDER BY 2 DESC";
const ASKED = ["sql", "start", "limit", "filter", "key", "partitions"];
const SLICES = { limit: "the number of records that was asked for", budget: "what is read in the time", bytes: "128 MiB" };
const isNumber = (type) => /INT|DOUBLE|FLOAT|DECIMAL|REAL/.test(type) && !type.endsWith("[]");

export function Sql({ name }) {
  const [state, setState] = useState({});
  const abort = useRef();
  const asked = new URLSearchParams([...query.value].filter(([each]) => ASKED.includes(each)));
  const text = asked.toString();
  const run = async () => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    setState({ isBusy: true });
    try {
      for await (const line of lines(`${apiPath("topics", name, "sql")}?${text}`, { signal: mine.signal })) {
        if (line.progress) setState({ isBusy: true, progress: line.progress });
        const why = line.error ?? line.result?.error;
        if (why) throw new Refused(400, why);
        if (line.result) setState({ result: line.result });
      }
    } catch (error) { if (error.name !== "AbortError") setState({ error }); }
  };
  useEffect(() => { if (asked.get("sql")) run(); return () => abort.current?.abort(); }, [name, text]);
  const submit = (event) => {
    event?.preventDefault();
    const form = new FormData(document.querySelector("form.query"));
    const url = withQuery(Object.fromEntries(ASKED.map((each) => [each, form.get(each) || ""])));
    if (url === location.pathname + location.search) run(); else go(url);
  };
  const runByKey = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event); };
  return html`
    <form class="query" key=${text} onSubmit=${submit}>
      <label class="wide"><span>SQL over the table <code>records</code>; Ctrl-Enter runs it</span>
        <textarea name="sql" rows="5" required spellcheck=${false} onKeyDown=${runByKey} defaultValue=${asked.get("sql") || FIRST}></textarea></label>
      <label>Read <select name="start" defaultValue=${asked.get("start") || ""}><option value="">the newest</option><option value="oldest" selected=${asked.get("start") === "oldest"}>the oldest</option></select></label>
      <label>Records <input name="limit" type="number" min="1" max="1000000" defaultValue=${asked.get("limit") || "100000"} /></label>
      <label>Filter <input name="filter" defaultValue=${asked.get("filter") || ""} spellcheck=${false} placeholder="all of them" /></label>
      <label>Key <input name="key" defaultValue=${asked.get("key") || ""} placeholder="its partition alone" /></label>
      <div class="actions"><button class="primary">Run</button>
        ${state.isBusy && html`<button type="button" onClick=${() => { abort.current?.abort(); setState({}); }}>Stop</button>`}</div>
    </form>
    <details class="notice"><summary>What there is to ask</summary>
      <p><code>partition</code>, <code>"offset"</code> (in quotes: a word of SQL), <code>timestamp</code> (UTC), <code>key</code> and <code>value</code> as text, <code>json</code> (the value, where it is JSON), <code>headers</code> (a list of name and value), <code>key_bytes</code>, <code>value_bytes</code>. One SELECT of DuckDB.</p></details>
    <${Failure} error=${state.error} />
    <p class="bar" role="status">${state.isBusy && html`<span>${state.progress ? `${count(state.progress.scanned)} records read (${bytes(state.progress.bytes)})…` : "Reading…"}</span>`}
      ${state.result && html`<span>${count(state.result.rows.length)}${state.result.is_cut ? " or more" : ""} rows of ${count(state.result.records)} records, in ${count(state.result.ms)} ms</span>
        <span class="quiet">${SLICES[state.result.slice] ? `Read up to ${SLICES[state.result.slice]}; the topic may have more.` : "The whole topic was read."}</span>`}</p>
    ${state.result && html`<${Result} result=${state.result} />`}
    ${!state.result && !state.isBusy && !state.error && html`<${Empty} title="Ask the records"><p>Some records are read, then one statement is run over them. Nothing is kept.</p><//>`}`;
}

// What a spreadsheet would run as a formula gets a sign before it.
const safe = (cell) => `"${(/^[=+\-@\t\r]/.test(cell) ? "'" + cell : cell).replaceAll('"', '""')}"`;
const FILES = {
  csv: ({ columns, rows }) => [columns.map((each) => each.name), ...rows].map((row) => row.map((cell) => (cell === null ? "" : safe(cell))).join(",")).join("\r\n"),
  jsonl: ({ columns, rows }) => rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((each, at) => [each.name, row[at]])))).join("\n"),
};

function save(result, kind) {
  const url = URL.createObjectURL(new Blob([FILES[kind](result) + "\n"], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `result.${kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function Result({ result }) {
  const numbers = result.columns.map((each, at) => at).filter((at) => at > 0 && isNumber(result.columns[at].type));
  const columns = result.columns.map((each, at) => ({
    name: visible(each.name), kind: isNumber(each.type) ? "number" : "code",
    show: (row) => (row.cells[at] === null ? html`<span class="mark">null</span>` : html`<span class="cut">${visible(row.cells[at])}</span>`),
  }));
  const rows = result.rows.map((cells, at) => ({ cells, at }));
  if (!rows.length) return html`<${Empty} title="No rows"><p>The statement found nothing in these records.</p><//>`;
  return html`
    ${numbers.length > 0 && rows.length > 1 && rows.length <= 200 && html`<${Bars} labels=${result.rows.map((row) => visible(row[0] ?? "null"))}
      values=${result.rows.map((row) => Number(row[numbers[0]]))} label=${`${visible(result.columns[numbers[0]].name)} by ${visible(result.columns[0].name)}`} />`}
    <p class="exports">Save the result as <button class="small" onClick=${() => save(result, "csv")}>CSV</button>
      <button class="small" onClick=${() => save(result, "jsonl")}>JSON lines</button></p>
    <${Table} label="Result" columns=${columns} rows=${rows} keyOf=${(row) => row.at} />`;
}
