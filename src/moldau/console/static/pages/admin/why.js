// Why something ails: what is known, likely causes, and what would mend it.
import { api, apiPath, at, Badge, cluster, Command, Empty, Failure, go, html, Loading, may, query, Title, useLoad, useState, visible, withQuery } from "../../lib.js";
import { Choice, Confirm, Field, fields } from "./parts.js";

const SUBJECTS = {
  partitions: () => ({ title: "Why do partitions lack replicas?", crumbs: [["Overview", at()]], path: apiPath("why", "partitions"), well: "Every partition has a leader and all its replicas." }),
  group: ([id]) => ({ title: `Why is ${visible(id)} behind?`, crumbs: [["Groups", at("groups")], [visible(id), at("groups", id)]], path: apiPath("why", "groups", id), well: "Nothing is wrong that can be seen from here." }),
  connector: ([worker, name]) => ({ title: `Why has ${visible(name)} failed?`, crumbs: [["Connect", at("connect")], [visible(name), at("connect", worker) + "?" + new URLSearchParams({ name })]],
    path: apiPath("why", "connect", worker, name), well: "Nothing of it has failed." }),
};

export function Page({ rest: [subject, ...names] }) {
  if (subject === "produce") return html`<${Produce} />`;
  const found = SUBJECTS[subject]?.(names);
  return found ? html`<${Diagnosis} ...${found} key=${found.path} /> ` : html`<${Start} />`;
}

const Start = () => html`<${Title}>Why?<//><ul class="findings">
  <li><a href=${at("why", "partitions")}>Why do partitions lack replicas or leaders?</a></li>
  <li><a href=${at("why", "produce")}>Why does a topic reject records?</a></li>
  <li><a href=${at("groups")}>Why is a group behind?</a> <span class="quiet">Choose the group; its page says why.</span></li>
  <li><a href=${at("connect")}>Why has a connector failed?</a> <span class="quiet">Choose the connector.</span></li></ul>`;

function Diagnosis({ title, crumbs, path, well }) {
  const { data, error, reload } = useLoad((abort) => api(path, { signal: abort }), [cluster.value, path]);
  return html`<${Title} crumbs=${crumbs} actions=${html`<button onClick=${reload}>Look again</button>`}>${title}<//>
    <${Failure} error=${error} retry=${reload} />${data ? html`<${Found} data=${data} well=${well} reload=${reload} />` : !error && html`<${Loading} />`}`;
}

function Found({ data, well, reload }) {
  const [running, setRunning] = useState(null);
  const [note, setNote] = useState("");
  return html`<h2>What is known</h2><ul class="known">${data.known.map((each) => html`<li>${visible(each)}</li>`)}</ul>
    ${note && html`<p class="notice good" role="status">${note}</p>`}
    <h2>${data.causes.some((each) => each.is_certain) ? "Causes" : "Likely causes"}</h2>
    ${data.causes.length === 0 && html`<${Empty} title="✓ None"><p>${well}</p><//>`}
    ${data.causes.map((each) => html`<section class=${`notice ${each.is_certain ? "bad" : "warn"}`}>
      <h3>${each.is_certain ? html`<${Badge} kind="bad">seen<//>` : html`<${Badge} kind="warn">likely<//>`} ${visible(each.text)}</h3>
      <p>${visible(each.advice)}</p>
      ${each.command && html`<p><${Command} text=${each.command} /></p>`}
      <div class="actions">${each.page.length > 0 && html`<a href=${at(...each.page)}>Show more</a>`}
        ${each.remedy && (may(each.remedy.role) ? html`<button class=${each.remedy.confirm ? "danger" : ""} onClick=${() => setRunning(each)}>${visible(each.remedy.label)}…</button>`
          : html`<span class="quiet">“${visible(each.remedy.label)}” takes the role ${each.remedy.role}.</span>`)}</div></section>`)}
    ${running && html`<${Confirm} title=${`${visible(running.remedy.label)}?`} verb=${visible(running.remedy.label)} method=${running.remedy.method} path=${apiPath(...running.remedy.path)}
      body=${running.remedy.body} typed=${running.remedy.confirm ?? undefined} onClose=${() => setRunning(null)} onDone=${() => { setNote(`Done: ${visible(running.remedy.label)}.`); setTimeout(reload, 500); }}>
      <p>${visible(running.advice)}</p><p class="quiet">Sent is <code>${running.remedy.method} ${visible(running.remedy.path.join("/"))}</code>
        ${Object.keys(running.remedy.body).length > 0 && html` with <code>${visible(JSON.stringify(running.remedy.body))}</code>`}</p><//>`}`;
}

function Produce() {
  const [topic, error, principal] = ["topic", "error", "principal"].map((each) => query.value.get(each) || "");
  const asked = new URLSearchParams({ topic, error, principal });
  const found = useLoad((abort) => api(`${apiPath("why", "produce")}?${asked}`, { signal: abort }), [topic, error, principal]);
  const submit = (event) => { event.preventDefault(); const given = fields(event.target); go(withQuery({ topic: given.topic, error: given.error, principal: given.principal })); };
  return html`<${Title} crumbs=${[["Why?", at("why")]]}>Why does a topic reject records?<//>
    <form class="query" onSubmit=${submit}><${Field} label="Topic" name="topic" required value=${topic} />
      <${Choice} label="The producer was answered" name="error" value=${error} choices=${[["", "I do not know"], ...(found.data?.errors || [])]} />
      ${may("operator") && html`<${Field} label="It is logged in as" name="principal" placeholder="User:anna" value=${principal} />`}
      <button class="primary">Look</button></form>
    <${Failure} error=${found.error} retry=${found.reload} />
    ${topic && found.data ? html`<${Found} data=${found.data} well="Nothing is wrong with the topic that can be seen from here. Choose what the producer was answered: its log says it." reload=${found.reload} />`
      : topic && !found.error && html`<${Loading} />`}`;
}
