// The HTTP API, as its own description has it: what these pages use, programs can use as well.
import { api, Command, count, Empty, Failure, go, html, Loading, query, Title, useLoad, visible, withQuery } from "../../lib.js";
import { Filter } from "../../table.js";

const DESCRIPTION = "/api/openapi.json";

export function Page() {
  const { data, error, reload } = useLoad((abort) => api(DESCRIPTION, { signal: abort }), []);
  if (!data) return html`<${Title}>API<//>${error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`}`;
  const wanted = query.value.get("q") || "";
  const every = Object.entries(data.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => ({ path, method: method.toUpperCase(), ...each })));
  const found = every.filter((each) => `${each.method} ${each.path} ${each.summary}`.toLowerCase().includes(wanted.toLowerCase()));
  return html`<${Title} actions=${html`<a class="button" href=${DESCRIPTION} download>OpenAPI ${data.openapi}</a>`}>API<//>
    <p>What these pages use, programs can use as well, by the same logins and roles. A change needs the header <code>Content-Type: application/json</code>.</p>
    <p><${Command} text=${`curl ${location.origin}/api/clusters/${encodeURIComponent(location.pathname.split("/")[2])}/topics`} /></p>
    <div class="bar"><${Filter} label="Filter requests" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
      <span class="quiet" role="status">${count(found.length)} of ${count(every.length)}</span></div>
    ${found.length ? html`<div class="requests">${found.map((each) => html`<${Request} key=${each.method + each.path} of=${each} />`)}</div>`
      : html`<${Empty} title="No request matches"><p>Clear the filter.</p><//>`}`;
}

function Request({ of: { method, path, summary, description, parameters, requestBody } }) {
  const body = requestBody?.content["application/json"].schema.properties || {};
  const rows = [...parameters.map((each) => [each.name, each.in === "path" ? "in the path" : each.description]), ...Object.entries(body).map(([name, each]) => [name, `in the body: ${each.description}`])];
  return html`<details><summary><span class=${`method ${method.toLowerCase()}`}>${method}</span> <code>${path}</code> <span class="quiet">${visible(summary)}</span></summary>
    <p class="quiet">${visible(description)}</p>
    ${rows.length > 0 && html`<dl class="pairs">${rows.map(([name, text]) => html`<dt><code>${name}</code></dt><dd>${visible(text)}</dd>`)}</dl>`}</details>`;
}
