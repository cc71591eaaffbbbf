// Schemas of the registry: versions, what changed between them, a check before registering.
import { api, apiPath, at, Badge, cluster, Command, console_, count, Empty, Failure, go, html, Loading, may, query, Title, useEffect, useLoad, useState, visible, withQuery } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { Choice, fields, useSend } from "./parts.js";

export function Page({ rest: [name] }) {
  if (!console_.value.registry) return html`<${Title}>Schemas<//><${Empty} title="No registry is named"><p>Start the console with the address of a schema registry, Moldau's or Confluent's:</p>
    <${Command} text="moldau console --registry http://localhost:8081" /><//>`;
  return name === "subject" ? html`<${Subject} name=${query.value.get("name") || ""} key=${query.value.get("name")} />` : html`<${Subjects} />`;
}
const pageOf = (name) => at("schemas", "subject") + "?" + new URLSearchParams({ name });

function Subjects() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("schemas"), { signal: abort }), [cluster.value]);
  const [fresh, setFresh] = useState("");
  const wanted = query.value.get("q") || "";
  const rows = (data?.subjects || []).filter((each) => each.toLowerCase().includes(wanted.toLowerCase())).map((name) => ({ name }));
  const columns = [{ name: "Subject", show: (row) => html`<a href=${pageOf(row.name)}>${visible(row.name)}</a>` }];
  return html`<${Title}>Schemas<//><${Failure} error=${error} retry=${reload} />
    ${!data ? !error && html`<${Loading} />` : html`
      <div class="bar"><${Filter} label="Filter subjects" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
        <span class="quiet" role="status">${count(rows.length)} of ${count(data.subjects.length)}; the level is ${visible(data.level)} where none is set</span></div>
      ${rows.length ? html`<${Table} label="Subjects" columns=${columns} rows=${rows} keyOf=${(row) => row.name} onOpen=${(row) => go(pageOf(row.name))} />`
        : html`<${Empty} title=${data.subjects.length ? "No subject matches" : "No schemas yet"}><p>${data.subjects.length ? "Clear the filter." : "A producer that serializes with a schema registers it, or you do:"}</p><//>`}
      ${may("operator") && html`<h2>Register the schema of a new subject</h2>
        <label>Subject <input value=${fresh} placeholder="orders-value" onInput=${(event) => setFresh(event.target.value)} /></label>
        ${fresh && html`<${Register} name=${fresh} onDone=${() => go(pageOf(fresh))} />`}`}`}`;
}

function Subject({ name }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("schemas", name), { signal: abort }), [name]);
  const crumbs = [["Schemas", at("schemas")]];
  if (!data) return html`<${Title} crumbs=${crumbs}>${visible(name)}<//>${error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`}`;
  const newest = String(data.versions[data.versions.length - 1]), shown = query.value.get("version") || newest, against = query.value.get("against") || "";
  const pick = (names) => go(withQuery(names), { replace: true });
  return html`<${Title} crumbs=${crumbs}>${visible(name)}<//><${Failure} error=${error} retry=${reload} />
    <dl class="cards"><div><dt>Versions</dt><dd>${data.versions.length}</dd></div><div><dt>Kind</dt><dd>${visible(data.latest.type)}</dd></div>
      <div><dt>Compatibility</dt><dd>${visible(data.level)}</dd></div><div><dt>Newest id</dt><dd>${data.latest.id}</dd></div></dl>
    ${!data.is_own_level && html`<p class="quiet">The level is that of the registry; the subject has none of its own.</p>`}
    <div class="bar"><${Choice} label="Version" value=${shown} choices=${data.versions.map(String).reverse()} onChange=${(value) => pick({ version: value })} />
      <${Choice} label="against" value=${against} choices=${[["", "none"], ...data.versions.map(String).filter((each) => each !== shown).reverse()]} onChange=${(value) => pick({ against: value })} /></div>
    ${against ? html`<${Diff} name=${name} from=${against} to=${shown} />` : html`<${Version} name=${name} version=${shown} />`}
    <h2>Check another schema against it</h2>
    <${Register} name=${name} kind=${data.latest.type} references=${data.latest.references} onDone=${reload} />`;
}

function Version({ name, version }) {
  const { data, error } = useLoad((abort) => api(apiPath("schemas", name, "versions", version), { signal: abort }), [name, version]);
  if (!data) return error ? html`<${Failure} error=${error} />` : html`<${Loading} />`;
  return html`<pre tabindex="0" aria-label=${`Schema of version ${data.version}`}>${visible(data.schema)}</pre>
    <p class="quiet">Version ${data.version}, id ${data.id}${data.references.length ? `; uses ${data.references.map((each) => `${visible(each.subject)} version ${each.version}`).join(", ")}` : ""}</p>`;
}

const WORDS = { "+": "added: ", "-": "removed: ", " ": "" };
function Diff({ name, from, to }) {
  const { data, error } = useLoad((abort) => api(`${apiPath("schemas", name, "diff")}?${new URLSearchParams({ from, to })}`, { signal: abort }), [name, from, to]);
  if (!data) return error ? html`<${Failure} error=${error} />` : html`<${Loading} />`;
  const changed = data.lines.filter(([mark]) => mark !== " ").length;
  return html`<p class="quiet" role="status">${changed ? `${changed} lines differ between version ${data.from} and ${data.to}` : `Versions ${data.from} and ${data.to} have the same text`}</p>
    <pre class="diff" tabindex="0" aria-label="Differences">${data.lines.map(([mark, line]) => html`<div class=${mark === "+" ? "plus" : mark === "-" ? "minus" : ""}><span class="hidden">${WORDS[mark]}</span><span aria-hidden="true">${mark} </span>${visible(line)}</div>`)}</pre>`;
}

function Register({ name, kind = "AVRO", references = [], onDone }) {
  const [plan, setPlan] = useState(null);
  const [note, setNote] = useState("");
  useEffect(() => setPlan(null), [name]);
  const planning = useSend(), registering = useSend((found) => { setPlan(null); setNote(`Registered with id ${found.id}.`); onDone(); });
  const check = async (event) => {
    event.preventDefault();
    setNote("");
    const body = { ...fields(event.target), references };
    const found = await planning.send(apiPath("schemas", name, "plan"), "POST", body);
    if (found) setPlan({ ...found, body });
  };
  return html`<form onSubmit=${check} onInput=${() => setPlan(null)}>
      <label>Schema <textarea name="schema" rows="8" required spellcheck="false"></textarea></label>
      <${Choice} label="Kind" name="type" value=${kind} choices=${["AVRO", "JSON", "PROTOBUF"]} />
      <button class=${plan ? "" : "primary"} disabled=${planning.isBusy}>Check</button></form>
    <${Failure} error=${planning.error || registering.error} />
    ${note && html`<p class="notice good" role="status">${note}</p>`}
    ${plan && html`<div class=${`notice ${plan.is_compatible ? "good" : "bad"}`} role="status">
      <strong>${plan.version ? `✓ It is there already, as version ${plan.version}.` : plan.is_compatible ? "✓ It is compatible." : "✗ It is not compatible."}</strong>
      ${plan.messages.length > 0 && html`<ul>${plan.messages.map((each) => html`<li>${visible(each)}</li>`)}</ul>`}
      ${!plan.version && plan.is_compatible && (may("operator") ? html`<p><button class="primary" disabled=${registering.isBusy} onClick=${() => registering.send(apiPath("schemas", name, "versions"), "POST", plan.body)}>Register it</button></p>`
        : html`<p class="quiet">To register it takes the role operator.</p>`)}</div>`}`;
}
