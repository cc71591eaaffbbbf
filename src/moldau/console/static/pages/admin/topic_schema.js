// The schemas that producers register for a topic: of its values and of its keys.
import { api, apiPath, at, Empty, Failure, html, Loading, useLoad, visible } from "../../lib.js";

const pageOf = (name) => at("schemas", "subject") + "?" + new URLSearchParams({ name });

export function Page({ rest: [topic] }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("schemas"), { signal: abort }), [topic]);
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  // Other names of subjects have the topic's name before the record's.
  const own = [`${topic}-value`, `${topic}-key`], names = own.filter((each) => data.subjects.includes(each));
  const others = data.subjects.filter((each) => each.startsWith(`${topic}-`) && !own.includes(each));
  return html`${names.map((each) => html`<${Newest} name=${each} key=${each} />`)}
    ${names.length + others.length === 0 && html`<${Empty} title="No schema is registered for this topic">
      <p>A producer that serializes with a schema registers <code>${visible(own[0])}</code>. Or do it yourself on the page <a href=${at("schemas")}>Schemas</a>.</p><//>`}
    ${others.length > 0 && html`<p>Subjects that may be of it: ${others.map((each) => html`<a href=${pageOf(each)}>${visible(each)}</a> `)}</p>`}`;
}

function Newest({ name }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("schemas", name), { signal: abort }), [name]);
  return html`<h2><a href=${pageOf(name)}>${visible(name)}</a></h2><${Failure} error=${error} retry=${reload} />
    ${data ? html`<p class="quiet">${visible(data.latest.type)}, version ${data.latest.version}, id ${data.latest.id}, ${visible(data.level)}</p>
      <pre tabindex="0" aria-label=${`Schema of ${visible(name)}`}>${visible(data.latest.schema)}</pre>` : !error && html`<${Loading} />`}`;
}
