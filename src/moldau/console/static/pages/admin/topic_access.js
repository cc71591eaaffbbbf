// The access rules that are about a topic: by its name, by its beginning, or all topics.
import { api, apiPath, at, Empty, Failure, html, Loading, useLoad } from "../../lib.js";
import { Table } from "../../table.js";
import { columns, isWithoutRules, keyOf, Unruled } from "./acls.js";

export function Page({ rest: [topic] }) {
  const wanted = new URLSearchParams({ type: "topic", name: topic, pattern: "match" });
  const { data, error, reload } = useLoad((abort) => api(`${apiPath("acls")}?${wanted}`, { signal: abort }), [topic]);
  if (isWithoutRules(error)) return html`<${Unruled} />`;
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const page = at("access", "rules");
  return data.acls.length ? html`<${Table} label="Access rules of this topic" columns=${columns} rows=${data.acls} keyOf=${keyOf} />
      <p class="quiet">A deny wins over an allow. Rules are added and removed on the page <a href=${page}>Access</a>.</p>`
    : html`<${Empty} title="No rule is about this topic"><p>Super users alone may use it, or everybody where allow.everyone.if.no.acl.found is true. Add rules on the page <a href=${page}>Access</a>.</p><//>`;
}
