// Connectors of Kafka Connect: their state, and one connector with its tasks and offsets.
import { api, apiPath, at, Badge, cluster, Command, console_, count, Empty, Failure, go, html, Loading, may, query, Title, useEffect, useLoad, useState, visible, withQuery } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { Confirm, useSend } from "./parts.js";
import { ConnectorForm } from "./connector_form.js";
import { Offsets } from "./connector_offsets.js";

const AGAIN_MS = 5000;
export const STATES = { running: "good", paused: "plain", stopped: "plain", failed: "bad", degraded: "bad", "no tasks": "warn", unassigned: "warn", restarting: "warn" };
const State = ({ of }) => html`<${Badge} kind=${STATES[of] || "plain"}>${{ bad: "✗ ", warn: "! ", good: "✓ " }[STATES[of]] || ""}${visible(of)}<//>`;
const pageOf = (worker, name) => at("connect", worker) + "?" + new URLSearchParams({ name });

export function Page({ rest: [worker, form] }) {
  if (!console_.value.connect?.length) return html`<${Title}>Connect<//><${Empty} title="No worker of Connect is named"><p>Start the console with the address of a worker, Moldau's or Apache's:</p>
    <${Command} text="moldau console --connect http://localhost:8083" /><//>`;
  const name = query.value.get("name");
  if (worker && form === "new") return html`<${Title} crumbs=${[["Connect", at("connect")]]}>A new connector on ${visible(worker)}<//><${ConnectorForm} worker=${worker} />`;
  return worker && name !== null ? html`<${Connector} worker=${worker} name=${name} key=${name} />` : html`<${All} />`;
}

function useAgain(reload) {
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden && !document.querySelector("dialog[open]")) reload(); }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
}

function All() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("connect"), { signal: abort }), [cluster.value]);
  useAgain(reload);
  const wanted = query.value.get("q") || "";
  const every = (data?.workers || []).flatMap((each) => each.connectors.map((row) => ({ ...row, worker: each.worker })));
  const rows = every.filter((each) => `${each.name} ${each.class} ${each.state}`.toLowerCase().includes(wanted.toLowerCase()));
  const columns = [
    { name: "Connector", show: (row) => html`<a href=${pageOf(row.worker, row.name)}>${visible(row.name)}</a>` },
    { name: "State", show: (row) => html`<${State} of=${row.state} />` },
    { name: "Tasks", kind: "when", show: (row) => Object.entries(row.tasks).map(([state, number]) => `${number} ${visible(state.toLowerCase())}`).join(", ") || html`<span class="quiet">none</span>` },
    { name: "Class", show: (row) => html`<span title=${visible(row.class)}>${visible(row.class.split(".").pop())}</span>` },
    { name: "Error", show: (row) => row.error ? html`<span class="cut">${visible(row.error)}</span>` : "" },
    ...(data?.workers.length > 1 ? [{ name: "Worker", show: (row) => visible(row.worker) }] : []),
  ];
  return html`<${Title} actions=${may("admin") && data?.workers.filter((each) => !each.error).map((each) => html`<a class="button" href=${at("connect", each.worker, "new")}>New connector${data.workers.length > 1 ? ` on ${visible(each.worker)}` : ""}…</a>`)}>Connect<//>
    <${Failure} error=${error} retry=${reload} />
    ${data?.workers.filter((each) => each.error).map((each) => html`<div class="notice bad" role="alert"><strong>${visible(each.worker)} is not shown.</strong> ${visible(each.error)}</div>`)}
    ${!data ? !error && html`<${Loading} />` : every.length ? html`
      <div class="bar"><${Filter} label="Filter connectors" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
        <span class="quiet" role="status">${count(rows.length)} of ${count(every.length)}${every.some((each) => each.error) ? `, ${every.filter((each) => ["failed", "degraded"].includes(each.state)).length} with errors` : ""}</span></div>
      ${rows.length ? html`<${Table} label="Connectors" columns=${columns} rows=${rows} keyOf=${(row) => `${row.worker} ${row.name}`} onOpen=${(row) => go(pageOf(row.worker, row.name))} />`
        : html`<${Empty} title="No connector matches"><p>Clear the filter.</p><//>`}`
      : data.workers.every((each) => each.error) ? null : html`<${Empty} title="No connectors yet"><p>A connector brings records from another system into topics, or takes them there. ${may("admin") ? "Make one by “New connector”." : "To make one takes the role admin."}</p><//>`}`;
}

function Connector({ worker, name }) {
  const path = apiPath("connect", worker, "connectors", name);
  const { data, error, reload } = useLoad((abort) => api(path, { signal: abort }), [path]);
  const [dialog, setDialog] = useState(null);
  useAgain(reload);
  const acting = useSend(() => setTimeout(reload, 300));
  const crumbs = [["Connect", at("connect")]];
  if (!data) return html`<${Title} crumbs=${crumbs}>${visible(name)}<//>${error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`}`;
  const act = (action, body = {}) => acting.send(`${path}/${action}`, "POST", body);
  const own = data.parts[0]?.state;
  const columns = [
    { name: "Part", show: (row) => row.id === null ? "connector" : `task ${row.id}` },
    { name: "State", show: (row) => html`<${State} of=${row.state.toLowerCase()} />` },
    { name: "On", show: (row) => visible(row.worker) },
    { name: "Error", show: (row) => row.error ? html`<div>${visible(row.error)}</div>${row.cause && html`<div class="quiet">cause: ${visible(row.cause)}</div>`}
      <details><summary>Trace</summary><pre tabindex="0">${visible(row.trace)}</pre></details>` : "" },
  ];
  const settings = Object.entries(data.config).sort(([one], [other]) => (one < other ? -1 : 1));
  return html`<${Title} crumbs=${crumbs} actions=${html`
      ${may("operator") && html`<button onClick=${() => act("restart", { only_failed: ["failed", "degraded"].includes(data.state) })}>Restart${["failed", "degraded"].includes(data.state) ? " what failed" : ""}</button>
        ${own === "PAUSED" || own === "STOPPED" ? html`<button onClick=${() => act("resume")}>Resume</button>` : html`<button onClick=${() => act("pause")}>Pause</button>`}
        ${own !== "STOPPED" && html`<button onClick=${() => act("stop")}>Stop</button>`}`}
      ${may("admin") && html`<button onClick=${() => setDialog("edit")}>Change settings…</button><button class="danger" onClick=${() => setDialog("delete")}>Delete…</button>`}`}>${visible(name)}<//>
    <${Failure} error=${error || acting.error} retry=${error && reload} />
    ${data.error && html`<div class="notice bad"><strong>✗ ${visible(data.error)}</strong>
      <p><a href=${at("why", "connector", worker, name)}>Why, and what mends it</a></p></div>`}
    <dl class="cards"><div><dt>State</dt><dd><${State} of=${data.state} /></dd></div><div><dt>Kind</dt><dd>${visible(data.type) || "–"}</dd></div>
      <div class="wide"><dt>Class</dt><dd title=${visible(data.class)}>${visible(data.class.split(".").pop())}</dd></div>
      <div><dt>Topics</dt><dd>${data.topics.length ? data.topics.map((each) => html`<a href=${at("topics", each)}>${visible(each)}</a> `) : "–"}</dd></div></dl>
    <h2>Tasks</h2><${Table} label="Tasks" columns=${columns} rows=${data.parts} keyOf=${(row) => String(row.id)} />
    <${Offsets} data=${data} name=${name} path=${path} act=${act} reload=${reload} isBusy=${acting.isBusy} />
    <h2>Settings</h2>
    <${Table} label="Settings" columns=${[{ name: "Setting", show: ([key]) => visible(key) }, { name: "Value", kind: "code", show: ([, value]) => value === "" ? html`<span class="quiet">empty</span>` : visible(value) }]} rows=${settings} keyOf=${([key]) => key} />
    ${dialog === "edit" && html`<${ConnectorForm} worker=${worker} connector=${name} config=${data.config} onClose=${() => setDialog(null)} onDone=${() => { setDialog(null); reload(); }} />`}
    ${dialog === "delete" && html`<${Confirm} title=${`Delete the connector ${visible(name)}?`} verb="Delete" method="DELETE" path=${path} typed=${name} onClose=${() => setDialog(null)} onDone=${() => go(at("connect"))}>
      <p>Topics and their records stay, and so do the offsets of a sink's group; a source that is made again under the name goes on where it was.</p><//>`}`;
}
