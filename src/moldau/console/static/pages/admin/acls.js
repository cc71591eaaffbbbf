// Access rules: filtered, added by a plan, removed by a plan.
import { apiPath, api, Badge, cluster, Command, count, Dialog, Empty, Failure, go, html, Loading, may, query, useLoad, useMemo, useState, visible, withQuery } from "../../lib.js";
import { Filter, Table } from "../../table.js";
import { Choice, Field, fields, Notes, useSend } from "./parts.js";

const OPERATIONS = {
  topic: ["read", "write", "create", "delete", "alter", "describe", "describe_configs", "alter_configs"],
  group: ["read", "delete", "describe"],
  cluster: ["create", "alter", "describe", "cluster_action", "describe_configs", "alter_configs", "idempotent_write"],
  transactional_id: ["write", "describe"], delegation_token: ["describe"], user: ["create_tokens", "describe_tokens"],
};
const TYPES = Object.keys(OPERATIONS);
const words = (name) => name.replaceAll("_", " ");
export const keyOf = (row) => JSON.stringify(row);
export const columns = [
  { name: "Resource", show: (row) => html`<span class="quiet">${words(row.type)}</span> ${visible(row.name)}${row.pattern === "prefixed" && html`<span class="mark">…</span>`}` },
  { name: "Principal", show: (row) => visible(row.principal) },
  { name: "Rule", show: (row) => html`<${Badge} kind=${row.permission === "deny" ? "bad" : "good"}>${row.permission === "deny" ? "✗ deny" : "✓ allow"}<//>` },
  { name: "Operation", show: (row) => words(row.operation) },
  { name: "From", show: (row) => row.host === "*" ? "anywhere" : visible(row.host) },
];

// Brokers without an authorizer have no rules to list.
export const isWithoutRules = (error) => Boolean(error?.message.startsWith("SECURITY_DISABLED"));
export const Unruled = () => html`<${Empty} title="These brokers keep no access rules">
    <p>Everybody may do everything. Give the brokers an authorizer, and list those who may do everything as super users:</p>
    <${Command} text="authorizer.class.name=kafka.security.authorizer.AclAuthorizer" /><//>`;

export function Rules() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("acls"), { signal: abort }), [cluster.value]);
  const [chosen, setChosen] = useState(new Set());
  const [dialog, setDialog] = useState(null);
  const wanted = (query.value.get("q") || "").toLowerCase(), type = query.value.get("type") || "", permission = query.value.get("permission") || "";
  const rows = useMemo(() => (data?.acls || []).filter((each) => (!type || each.type === type) && (!permission || each.permission === permission) &&
    `${each.name} ${each.principal} ${words(each.operation)} ${each.host}`.toLowerCase().includes(wanted)), [data, wanted, type, permission]);
  if (isWithoutRules(error)) return html`<${Unruled} />`;
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const toggle = (key) => setChosen((old) => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next; });
  const box = { name: "", show: (row) => html`<input type="checkbox" aria-label=${`Choose the rule of ${visible(row.principal)} for ${visible(row.name)}`} checked=${chosen.has(keyOf(row))} onChange=${() => toggle(keyOf(row))} />` };
  const marked = data.acls.filter((each) => chosen.has(keyOf(each)));
  const done = () => { setDialog(null); setChosen(new Set()); reload(); };
  return html`<${Failure} error=${error} />
    <div class="bar">
      <${Filter} label="Filter rules" value=${query.value.get("q") || ""} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
      <${Choice} label="About " value=${type} choices=${[["", "everything"], ...TYPES.map((each) => [each, words(each)])]} onChange=${(value) => go(withQuery({ type: value }), { replace: true })} />
      <${Choice} label="Rule " value=${permission} choices=${[["", "both"], "allow", "deny"]} onChange=${(value) => go(withQuery({ permission: value }), { replace: true })} />
      <span class="quiet" role="status">${count(rows.length)} of ${count(data.acls.length)}</span>
      ${may("admin") && html`<button class="primary" onClick=${() => setDialog("add")}>Add rules…</button>`}
      ${may("admin") && marked.length > 0 && html`<button class="danger" onClick=${() => setDialog("remove")}>Remove ${marked.length}…</button>`}
    </div>
    ${rows.length ? html`<${Table} label="Access rules" columns=${may("admin") ? [box, ...columns] : columns} rows=${rows} keyOf=${keyOf} />`
      : html`<${Empty} title=${data.acls.length ? "No rule matches" : "No rules yet"}><p>${data.acls.length ? "Clear the filters."
        : "Add what a producer or a consumer needs. Until a resource has a rule, super users alone may use it, or everybody where allow.everyone.if.no.acl.found is true."}</p><//>`}
    ${dialog === "add" && html`<${Add} onClose=${() => setDialog(null)} onDone=${done} />`}
    ${dialog === "remove" && html`<${Remove} rules=${marked} onClose=${() => setDialog(null)} onDone=${done} />`}`;
}

function Plan({ plan, verb, isDanger, run, error, isBusy }) {
  const fresh = plan.acls.filter((each) => each.exists === isDanger);
  return html`<${Failure} error=${error} /><${Notes} notes=${plan.notes} />
    <${Table} label="The plan" columns=${[...columns, { name: "", show: (row) => row.exists === isDanger ? "" : html`<span class="quiet">${isDanger ? "is gone" : "is there already"}</span>` }]} rows=${plan.acls} keyOf=${keyOf} />
    <button class=${isDanger ? "danger" : "primary"} disabled=${isBusy || !fresh.length} onClick=${() => run(plan.acls.map(({ exists, ...rule }) => rule))}>${verb} ${fresh.length} rules</button>`;
}

function Add({ onClose, onDone }) {
  const [kind, setKind] = useState("consumer");
  const [type, setType] = useState("topic");
  const [plan, setPlan] = useState(null);
  const planning = useSend(setPlan), adding = useSend(onDone);
  const show = (event) => {
    event.preventDefault();
    const { type: _, ...given } = fields(event.target);
    planning.send(apiPath("acls", "plan"), "POST", kind === "rule" ? { acls: [{ ...given, type }] } : { ...given, for: kind });
  };
  return html`<${Dialog} title="Add access rules" onClose=${onClose}>
    <form onSubmit=${show} onInput=${() => setPlan(null)}>
      <${Failure} error=${planning.error} />
      <${Choice} label="For" value=${kind} onChange=${(value) => { setKind(value); setPlan(null); }}
        choices=${[["consumer", "what a consumer needs"], ["producer", "what a producer needs"], ["rule", "a single rule"]]} />
      <${Field} label="Principal" name="principal" required placeholder="User:anna" pattern="User:.+" hint="User:* is everybody" />
      ${kind === "rule" ? html`
        <${Choice} label="Resource" name="type" value=${type} choices=${TYPES.map((each) => [each, words(each)])} onChange=${setType} />
        ${type !== "cluster" && html`<${Field} label="Name" name="name" required placeholder="* is all" />`}
        <${Choice} label="Operation" name="operation" choices=${["all", ...OPERATIONS[type]].map((each) => [each, words(each)])} />
        <${Choice} label="Rule" name="permission" choices=${["allow", "deny"]} />` : html`
        <${Field} label="Topic" name="topic" required />
        ${kind === "consumer" ? html`<${Field} label="Group" name="group" required />` : html`<${Field} label="Transactional id" name="transactional_id" hint="if it has transactions" />`}`}
      <${Choice} label="Names are meant" name="pattern" choices=${[["literal", "as they are"], ["prefixed", "as the beginning of others"]]} />
      <${Field} label="From address" name="host" placeholder="anywhere" />
      <button class=${plan ? "" : "primary"} disabled=${planning.isBusy}>Show the plan</button>
    </form>
    ${plan && html`<${Plan} plan=${plan} verb="Add" isDanger=${false} run=${(acls) => adding.send(apiPath("acls"), "POST", { acls })} ...${adding} />`}
  <//>`;
}

function Remove({ rules, onClose, onDone }) {
  const { data, error } = useLoad(() => api(apiPath("acls", "plan"), { method: "POST", body: { action: "remove", acls: rules } }), []);
  const removing = useSend(onDone);
  return html`<${Dialog} title="Remove access rules" onClose=${onClose}>
    <${Failure} error=${error} />
    ${data ? html`<${Plan} plan=${data} verb="Remove" isDanger=${true} run=${(acls) => removing.send(apiPath("acls"), "DELETE", { acls })} ...${removing} />` : !error && html`<${Loading} />`}
  <//>`;
}
