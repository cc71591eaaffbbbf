// Who you are here: your roles, and what the login said of you.
import { api, Empty, Failure, html, Loading, Title, useLoad, visible } from "../../lib.js";
import { useSend } from "./parts.js";

export function Page() {
  const { data, error, reload } = useLoad((abort) => api("/api/me", { signal: abort }), []);
  const leaving = useSend(() => location.assign("/"));
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const claims = Object.entries(data.claims || {});
  return html`<${Title} actions=${data.claims && html`<button onClick=${() => leaving.send("/oidc/logout", "POST")}>Log out</button>`}>${visible(data.name)}<//>
    <${Failure} error=${leaving.error} />
    <dl class="pairs"><dt>Role</dt><dd>${data.is_ruled_by_cluster ? html`the access rules of the cluster decide; ${data.beside} of what stands beside it` : `${data.role} on all topics`}${data.is_read_only ? "; this console is read-only" : ""}</dd>
      ${data.grants.map((each) => html`<dt>${each.role}</dt><dd>on ${each.topics.map((topic) => html`<code>${visible(topic)}</code> `)}</dd>`)}
      <dt>Groups</dt><dd>${data.groups.length ? data.groups.map((each) => html`<code>${visible(each)}</code> `) : html`<span class="quiet">none came with the login</span>`}</dd></dl>
    <h2>What the login said</h2>
    ${claims.length ? html`<dl class="pairs">${claims.map(([name, value]) => html`<dt>${visible(name)}</dt><dd><code>${visible(JSON.stringify(value))}</code></dd>`)}</dl>`
      : html`<${Empty} title="Nothing"><p>Claims come with logins by OpenID Connect. ${data.is_ruled_by_cluster ? "You have logged in to the cluster itself." : html`Roles are given by the file of <code>--rules</code>, or by that of <code>--users</code>.`}</p><//>`}`;
}
