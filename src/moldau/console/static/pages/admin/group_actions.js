// A member of a group is sent away, or the offsets of one topic are forgotten.
import { apiPath, html, useState, visible } from "../../lib.js";
import { Choice, Confirm } from "./parts.js";

export const SendAway = ({ id, member, onClose, onDone }) => html`
  <${Confirm} title=${`Send ${visible(member.instance || member.client)} away?`} verb="Send away" method="DELETE" path=${apiPath("groups", id, "members")} body=${{ member: member.member }} onClose=${onClose} onDone=${onDone}>
    <p>Its partitions go to the other members. A client that lives joins again at once; one that hangs does not.</p>
    <p class="quiet">${visible(member.member)}</p><//>`;

export function Forget({ id, topics, onClose, onDone }) {
  const [topic, setTopic] = useState(topics[0]);
  return html`<${Confirm} title="Forget the offsets of a topic" verb="Forget" method="DELETE" typed=${topic} path=${apiPath("groups", id, "offsets")} body=${{ topic }} onClose=${onClose} onDone=${onDone}>
    <p>The group begins anew there, where <code>auto.offset.reset</code> of its consumers says. That is refused while a member reads the topic.</p>
    <${Choice} label="Topic" value=${topic} choices=${topics.map((each) => [each, visible(each)])} onChange=${setTopic} /><//>`;
}
