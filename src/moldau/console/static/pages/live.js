// A topic as it grows. The server sends what a view can show, and says what it left out.
import { Badge, count, html, live, useCallback, useEffect, useStream, useState, visible } from "../lib.js";
import { columnsOf, Rows } from "./records.js";

const SHOWN_MAX = 200;
const ASKED = ["filter", "key", "partitions", "columns", "uncommitted"];

export function Live({ name, asked }) {
  const [rows, setRows] = useState([]);
  const [seen, setSeen] = useState({ jumped: 0, dropped: 0, shown: 0 });
  const [said, setSaid] = useState({});
  const [isPaused, setIsPaused] = useState(false);
  const wanted = Object.fromEntries([...asked].filter(([each]) => ASKED.includes(each)));
  useEffect(() => { live.cursor = ""; return () => { live.cursor = ""; }; }, []);
  const take = useCallback((frame) => {
    setSaid({ isBegun: true, error: frame.error, isOver: frame.is_over });
    if (!frame.rows) return;
    setSeen((old) => ({ jumped: old.jumped + frame.jumped, dropped: old.dropped + frame.dropped, shown: old.shown + frame.rows.length }));
    if (frame.rows.length) setRows((old) => [...frame.rows.reverse(), ...old].slice(0, SHOWN_MAX));
  }, []);
  useStream(wanted, take, isPaused ? null : ["topics", name, "live"]);
  const skipped = seen.jumped + seen.dropped;
  return html`
    ${said.error && html`<div class="notice warn" role="status">${said.isOver ? "The view has ended: " : "No records for now: "}${visible(said.error)}${said.isOver ? "" : " The view goes on by itself."}</div>`}
    <p class="bar">
      <${Badge} kind=${isPaused || said.isOver ? "plain" : "good"}>${isPaused ? "paused" : said.isOver ? "ended" : said.isBegun ? "● live" : "connecting"}<//>
      <button class="small" aria-pressed=${isPaused} onClick=${() => setIsPaused(!isPaused)}>${isPaused ? "Resume" : "Pause"}</button>
      <span>${count(seen.shown)} shown${rows.length === SHOWN_MAX ? `, the last ${SHOWN_MAX} here` : ""}</span>
      ${skipped > 0 && html`<strong>${count(skipped)} skipped (view limited to 500/s)</strong>`}
    </p>
    ${rows.length ? html`<${Rows} name=${name} rows=${rows} columns=${columnsOf(asked)} />`
      : html`<p class="quiet">${isPaused ? "Paused before the first record." : "Waiting for the next record."}</p>`}`;
}
