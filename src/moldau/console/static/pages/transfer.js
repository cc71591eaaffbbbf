// Many records at once: those that a query finds, sent again, or those of a file.
import { apiPath, bytes, count, Dialog, Failure, html, lines, useEffect, useRef, useState, visible } from "../lib.js";

const FORMATS = [["jsonl", "JSON lines"], ["csv", "CSV"], ["parquet", "Parquet"]];

export function Transfer({ kind, name, asked, onClose }) {
  const [state, setState] = useState({});
  const [file, setFile] = useState(null);
  const abort = useRef();
  useEffect(() => () => abort.current?.abort(), []);
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const keep = Object.fromEntries(["keep_partition", "keep_time"].filter((each) => form.get(each)).map((each) => [each, 1]));
    abort.current = new AbortController();
    setState({ isBusy: true });
    try {
      const path = kind === "import" ? `${apiPath("topics", name, "import")}?${new URLSearchParams({ format: form.get("format"), ...keep })}` : apiPath("topics", name, "replay");
      const body = kind === "import" ? file : { to: form.get("to"), limit: Number(form.get("limit")), query: asked.toString(), ...keep };
      for await (const line of lines(path, { method: "POST", body, signal: abort.current.signal })) {
        if (line.progress) setState({ isBusy: true, ...line.progress });
        if (line.end) setState({ ...line.end, isDone: true });
      }
    } catch (error) { if (error.name !== "AbortError") setState({ error: error.message }); }
  };
  const format = FORMATS.find(([each]) => file?.name.endsWith(`.${each}`))?.[0] ?? "jsonl";
  return html`<${Dialog} title=${kind === "import" ? `Import into ${visible(name)}` : `Replay records of ${visible(name)}`} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${state.error && html`<${Failure} error=${new Error(`${state.error}${state.written ? `; ${count(state.written)} records are written` : ""}`)} />`}
      ${kind === "import" ? html`
        <label>File <input name="file" type="file" required accept=".jsonl,.json,.ndjson,.csv,.parquet" onChange=${(event) => setFile(event.target.files[0])} /></label>
        <label>Format <select key=${format} name="format">${FORMATS.map(([each, text]) => html`<option value=${each} selected=${each === format}>${text}</option>`)}</select></label>
        <p class="quiet">Columns or fields: key, value, headers, and partition and timestamp if they are kept, as an export has them.${file ? ` ${bytes(file.size)}.` : ""}</p>` : html`
        <p class="quiet">What this look finds is sent again, byte for byte${asked.get("filter") ? html`: <code>${visible(asked.get("filter"))}</code>` : ""}.</p>
        <label>To the topic <input name="to" required defaultValue=${name} /></label>
        <label>At most so many records <input name="limit" type="number" min="1" max="1000000" defaultValue="1000" /></label>`}
      <label class="check"><input type="checkbox" name="keep_partition" value="1" /> Keep the partition; else the key decides</label>
      <label class="check"><input type="checkbox" name="keep_time" value="1" /> Keep the time of each record</label>
      <div class="actions"><button class="primary" disabled=${state.isBusy}>${kind === "import" ? "Import" : "Replay"}</button>
        ${state.isBusy && html`<button type="button" onClick=${() => { abort.current.abort(); setState({ error: "It was stopped.", written: state.written }); }}>Stop</button>`}</div>
      <p role="status">${state.isBusy ? `${count(state.written ?? 0)} records are written…` : state.isDone && !state.error ? html`<strong>${count(state.written)} records are written to ${visible(state.topic)}.</strong>` : ""}</p>
    </form><//>`;
}
