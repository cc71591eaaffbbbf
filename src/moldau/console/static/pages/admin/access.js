// Who may do what in the cluster: access rules, users with passwords, quotas.
import { at, Empty, html, may, Tabs, Title } from "../../lib.js";
import { Rules } from "./acls.js";
import { Users } from "./users.js";
import { Quotas } from "./quotas.js";

const PARTS = { rules: ["Rules", Rules, "operator"], users: ["Users", Users, "operator"], quotas: ["Quotas", Quotas, "viewer"] };

export function Page({ rest }) {
  const part = PARTS[rest[0]] ? rest[0] : may("operator") ? "rules" : "quotas";
  const [name, Part, role] = PARTS[part];
  return html`<${Title}>Access<//>
    <${Tabs} tabs=${Object.entries(PARTS).map(([path, [text]]) => [text, at("access", path)])} current=${name} />
    ${may(role) ? html`<${Part} key=${part} />`
      : html`<${Empty} title="These take the role operator"><p>Ask whoever runs this console for it. Quotas can be seen by everybody.</p><//>`}`;
}
