// Streams applications: their queries, how long batches take, and their topology with live rates.
import { api, apiPath, Badge, bytes, cluster, Command, console_, count, Empty, Failure, html, Loading, rate, Title, useEffect, useLoad, useState, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { Chart } from "../../chart.js";

const AGAIN_MS = 3000, POINTS_MAX = 600;

export function Page() {
  if (!console_.value.streams?.length) return html`<${Title}>Streams<//><${Empty} title="No streams application is named"><p>Run it with a port for its metrics, and name that to the console:</p>
    <p><${Command} text="moldau streams run app.py --metrics-port 9400 --bootstrap-server localhost:9092" /></p><p><${Command} text="moldau console --streams http://localhost:9400" /></p><//>`;
  return html`<${Applications} />`;
}

function Applications() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("streams"), { signal: abort }), [cluster.value]);
  const [points, setPoints] = useState({});
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) reload(); }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (!data) return;
    const now = Date.now();
    setPoints((old) => Object.fromEntries(data.applications.map((each) =>
      [each.name, [...(old[each.name] || []).slice(-POINTS_MAX), [now, Math.max(0, ...each.queries.map((query) => query.batch_ms ?? 0))]]])));
  }, [data]);
  return html`<${Title}>Streams<//><${Failure} error=${error} retry=${reload} />
    ${data ? data.applications.map((each) => html`<${Application} key=${each.name} found=${each} points=${points[each.name] || []} />`) : !error && html`<${Loading} />`}`;
}

const shown = (value, show = count) => value === undefined || value === null ? html`<span class="quiet">–</span>` : show(value);
const trouble = (value, text) => value > 0 ? html`<${Badge} kind="warn">! ${count(value)} ${text}<//> ` : "";
const columns = [
  { name: "Query", show: (row) => visible(row.name) },
  { name: "Batch", kind: "number", show: (row) => shown(row.batch_id) },
  { name: "Took", kind: "number", show: (row) => shown(row.batch_ms, (value) => `${count(value)} ms`) },
  { name: "Rows in the last", kind: "number", show: (row) => shown(row.input_rows) },
  { name: "Rows/s", kind: "number", show: (row) => shown(row.processed_rows_per_s, rate) },
  { name: "Lag", kind: "number", show: (row) => shown(row.lag) },
  { name: "State", kind: "number", show: (row) => row.state_rows ? `${count(row.state_rows)} rows, ${bytes(row.state_bytes)}` : shown(undefined) },
  { name: "Troubles", show: (row) => html`${trouble(row.late_records, "late")}${trouble(row.failed_records, "left out")}${trouble(row.failures, "failures")}` },
];

function Application({ found, points }) {
  return html`<section><h2>${visible(found.name)} <span class="quiet">${visible(found.address)}</span></h2>
    ${found.error && html`<div class="notice bad" role="alert"><strong>Not shown.</strong> ${visible(found.error)} Is it running? Its address ends with its run.</div>`}
    ${found.queries.length > 0 ? html`<${Table} label=${`Queries of ${visible(found.name)}`} columns=${columns} rows=${found.queries} keyOf=${(row) => row.name} />
        ${points.length > 1 && html`<${Chart} points=${points} label="Milliseconds of the longest last batch" />`}` : !found.error && html`<${Empty} title="No query has run yet"><p>The first batch tells. If it stays so, see what the application prints.</p><//>`}
    ${found.topology && html`<${Topology} drawing=${found.topology} queries=${found.queries} name=${found.name} />`}</section>`;
}

// Boxes are drawn from data, never from a picture that somebody sends.
function Topology({ drawing, queries, name }) {
  const [wide, high] = drawing.box, { boxes, arrows } = drawing;
  const width = Math.max(...boxes.map((each) => each.x)) + wide + 30, height = Math.max(...boxes.map((each) => each.y)) + high + 30;
  const rates = Object.fromEntries(queries.map((each) => [each.name, each.processed_rows_per_s]));
  const flowing = (from, to) => boxes[from].kind === "source"
    ? boxes[to].queries.filter((each) => boxes[from].queries.includes(each) && rates[each] > 0).reduce((sum, each) => sum + rates[each], 0) : 0;
  const text = boxes.map((each) => `${each.kind} ${each.lines.join(" ")}`).join("; ");
  return html`<div class="topology" tabindex="0" role="img" aria-label=${visible(`Topology of ${name}: ${text}`)}>
    <svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
      ${arrows.map(([from, to]) => {
        const [x1, y1, x2, y2] = [boxes[from].x + wide / 2, boxes[from].y + high, boxes[to].x + wide / 2, boxes[to].y];
        const flow = flowing(from, to);
        return html`<line x1=${x1} y1=${y1} x2=${x2} y2=${y2} />${flow > 0 && html`<text class="rate" x=${(x1 + x2) / 2 + 26} y=${(y1 + y2) / 2 + 4}>${rate(flow)}/s</text>`}`;
      })}
      ${boxes.map((each) => html`<g class=${each.kind}><rect x=${each.x} y=${each.y} width=${wide} height=${high} rx="6" />
        ${each.lines.map((line, number) => html`<text x=${each.x + wide / 2} y=${each.y + 18 + 15 * number}>${visible(line)}</text>`)}</g>`)}
    </svg></div>`;
}
