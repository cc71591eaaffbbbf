import { api, apiPath, at, Badge, bytes, console_, count, Dialog, Empty, Failure, go, html, later, Loading, may, numbers, rate, Tabs, Title, useLoad, useState, useStream, visible } from "../lib.js";
import { Table } from "../table.js";
import { Configs } from "../configs.js";
import { Later } from "../later.js";
import { Messages } from "./messages.js";

const Grow = later(() => import("./admin/topic_actions.js"), "Grow");
const Cut = later(() => import("./admin/topic_actions.js"), "Cut");
const Sql = later(() => import("./sql.js"), "Sql");

export function Topic({ name, tab = may("reader") ? "messages" : "partitions" }) {
  const tabs = [...(may("reader") ? [["Messages", at("topics", name)], ["SQL", at("topics", name, "sql")]] : []), ["Partitions", at("topics", name, "partitions")],
    ["Configuration", at("topics", name, "configuration")], ["Consumers", at("topics", name, "consumers")], ["Producers", at("topics", name, "producers")],
    ...(console_.value.registry ? [["Schema", at("topics", name, "schema")]] : []), ...(may("operator") ? [["Access", at("topics", name, "access")]] : [])];
  const current = tab === "sql" ? "SQL" : tab[0].toUpperCase() + tab.slice(1);
  const [isDeleting, setIsDeleting] = useState(false);
  return html`
    <${Title} crumbs=${[["Topics", at("topics")]]} actions=${may("admin") && html`<button class="danger" onClick=${() => setIsDeleting(true)}>Delete…</button>`}>${visible(name)}<//>
    <${Tabs} tabs=${tabs} current=${current} />
    ${tab === "messages" && html`<${Messages} name=${name} />`}
    ${tab === "sql" && html`<${Sql} name=${name} />`}
    ${tab === "partitions" && html`<${Partitions} name=${name} />`}
    ${tab === "configuration" && html`<${Configs} path=${apiPath("topics", name, "configs")} canChange=${may("admin")} />`}
    ${tab === "consumers" && html`<${Consumers} name=${name} />`}
    ${tab === "producers" && html`<${Later} area="producers" rest=${[name]} />`}
    ${tab === "schema" && html`<${Later} area="schema" rest=${[name]} />`}
    ${tab === "access" && html`<${Later} area="access_of" rest=${[name]} />`}
    ${isDeleting && html`<${Delete} what="topic" name=${name} path=${apiPath("topics", name)} after=${at("topics")} onClose=${() => setIsDeleting(false)}>
      <p>All its records go with it, and cannot be brought back.</p><//>`}`;
}

export function Delete({ what, name, path, after, onClose, children }) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await api(path, { method: "DELETE", body: { confirm: typed } });
      onClose();
      go(after);
    } catch (failure) { setError(failure); }
  };
  return html`<${Dialog} title=${`Delete the ${what} ${visible(name)}?`} onClose=${onClose}>
    <form onSubmit=${submit}>
      <${Failure} error=${error} />${children}
      <label>Type its name to delete it <input autofocus value=${typed} onInput=${(event) => setTyped(event.target.value)} /></label>
      <button class="danger" disabled=${typed !== name}>Delete</button>
    </form><//>`;
}

function Partitions({ name }) {
  const [dialog, setDialog] = useState(null);
  const close = () => setDialog(null), done = () => { setDialog(null); reload(); };
  const { data, error, reload } = useLoad((abort) => api(apiPath("topics", name), { signal: abort }), [name]);
  useStream({ topics: 1 });
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const now = numbers.value.topics[name] || [];
  const columns = [
    { name: "Partition", kind: "number", show: (row) => row.partition },
    { name: "Leader", kind: "number", show: (row) => row.leader < 0 ? html`<${Badge} kind="bad">✗ none<//>` : row.leader },
    { name: "Replicas", show: (row) => row.replicas.join(", ") },
    { name: "In sync", show: (row) => row.isr.length < row.replicas.length
      ? html`<${Badge} kind="warn">! ${row.isr.join(", ") || "none"}<//>` : row.isr.join(", ") },
    { name: "First offset", kind: "number", show: (row) => count(row.start) },
    { name: "Next offset", kind: "number", show: (row) => count(row.end) },
    { name: "Records", kind: "number", show: (row) => row.end === null ? "unknown" : count(row.end - row.start) },
  ];
  return html`
    <dl class="cards">
      <div><dt>Records</dt><dd>${count(now[0])}</dd></div>
      <div><dt>Records/s</dt><dd>${rate(now[1])}</dd></div>
      <div><dt>On disk</dt><dd>${bytes(now[2])}</dd></div>
      <div><dt>Partitions</dt><dd>${data.partitions.length}</dd></div>
    </dl>
    ${may("admin") && html`<div class="bar"><button onClick=${() => setDialog("grow")}>Add partitions…</button><button class="danger" onClick=${() => setDialog("cut")}>Delete records…</button></div>`}
    <${Table} label="Partitions" columns=${columns} rows=${data.partitions} keyOf=${(row) => row.partition} />
    ${dialog === "grow" && html`<${Grow} name=${name} count=${data.partitions.length} onClose=${close} onDone=${done} />`}
    ${dialog === "cut" && html`<${Cut} name=${name} onClose=${close} onDone=${done} />`}
    ${data.id && html`<p class="quiet">Topic id ${data.id}. Records are next offset less first offset: fewer if the topic is compacted or has transactions.</p>`}`;
}

function Consumers({ name }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("topics", name, "consumers"), { signal: abort }), [name]);
  useStream({ groups: 1 });
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  if (!data.groups.length && !data.is_partial) return html`<${Empty} title="No group has read this topic"><p>A consumer with a group id appears here with its first commit.</p><//>`;
  const columns = [
    { name: "Group", show: (row) => html`<a href=${at("groups", row.group)}>${visible(row.group)}</a>` },
    { name: "Partitions", kind: "number", show: (row) => row.partitions },
    { name: "Lag of the group", kind: "number", show: (row) => count(numbers.value.groups[row.group]?.lag) },
  ];
  return html`${data.is_partial && html`<div class="notice warn" role="status"><strong>Not all groups.</strong> Some could not be asked for their offsets.</div>`}
    <${Table} label="Groups" columns=${columns} rows=${data.groups} keyOf=${(row) => row.group} />`;
}
