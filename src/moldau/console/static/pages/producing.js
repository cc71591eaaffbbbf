// One record written by hand: a new one, or another that is sent again, changed or not.
import { api, apiPath, console_, Dialog, Failure, html, lines, useState, visible } from "../lib.js";

const NOTHING = ["null", "empty", "tombstone"];
// Protobuf is left as it is: its JSON does not say which message of the schema it was.
const isRead = (part) => part?.registered?.text !== undefined && !part.registered.is_cut && part.registered.format !== "PROTOBUF";
const isText = (part) => NOTHING.includes(part.kind) || isRead(part) || (part.kind !== "hex" && !part.is_cut);
// Headers are edited as lines, so only those can be that are lines.
const isLine = ([name, part]) => isText(part) && part.kind !== "null" && !/[=\n]/.test(name) && name.length <= 256 && name === name.trim() && !part.text.includes("\n");
const textOf = (part) => (isRead(part) ? part.registered.text : part?.text ?? "");
const Schema = ({ name, part }) => console_.value.registry && html`<label>Schema of the ${name}: a subject, or a number; none for text as it is
  <input name=${`${name}_schema`} defaultValue=${isRead(part) ? part.registered.schema : ""} /></label>`;

// `from` is a record as the API shows it; what is no text is sent again as it is, in the server.
export function Produce({ name, from, onClose, onDone }) {
  const [error, setError] = useState(null);
  const [isBusy, setIsBusy] = useState(false);
  const canEdit = !from || (isText(from.key) && isText(from.value) && !from.headers_count && from.headers.every(isLine));
  const [isEdited, setIsEdited] = useState(canEdit);
  const [isNull, setIsNull] = useState({ key: from?.key.kind === "null", value: from?.value.kind === "tombstone" });
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target), topic = form.get("topic");
    setIsBusy(true);
    try {
      if (isEdited) await api(apiPath("topics", topic, "messages"), { method: "POST", body: written(form, isNull, !from) });
      else {
        const body = { to: topic, records: [[from.partition, from.offset]] };
        for await (const line of lines(apiPath("topics", name, "replay"), { method: "POST", body })) if (line.end?.error) throw new Error(line.end.error);
      }
      onDone();
    } catch (failure) { setError(failure); setIsBusy(false); }
  };
  const none = (part, text) => html`<label class="check"><input type="checkbox" checked=${isNull[part]} onChange=${(event) => setIsNull({ ...isNull, [part]: event.target.checked })} /> ${text}</label>`;
  return html`<${Dialog} title=${from ? `Replay ${from.partition}/${from.offset} of ${visible(name)}` : `Produce to ${visible(name)}`} onClose=${onClose}>
    <form onSubmit=${submit}><${Failure} error=${error} />
      <label>Topic <input name="topic" required defaultValue=${name} /></label>
      ${from && !canEdit && html`<p class="quiet">It is sent as it is, byte for byte: bytes that are no text, values of more than 1 MiB and headers of several lines cannot be changed here.</p>`}
      ${from && canEdit && html`<label class="check"><input type="checkbox" checked=${isEdited} onChange=${(event) => setIsEdited(event.target.checked)} /> Change it first</label>`}
      ${isEdited && html`
        ${from && none("key", "No key")}
        ${!isNull.key && html`<label>Key${from ? "" : "; none if it is left empty"} <input name="key" defaultValue=${textOf(from?.key)} /></label><${Schema} name="key" part=${from?.key} />`}
        ${none("value", "No value: a tombstone")}
        ${!isNull.value && html`<label>Value <textarea name="value" rows="8" spellcheck=${false} defaultValue=${textOf(from?.value)}></textarea></label><${Schema} name="value" part=${from?.value} />`}
        <label>Headers, one name=value per line <textarea name="headers" rows="2" defaultValue=${(from?.headers ?? []).map(([each, part]) => `${each}=${part.text}`).join("\n")}></textarea></label>
        <label>Partition; chosen by the key if it is left empty <input name="partition" type="number" min="0" /></label>`}
      <button class="primary" disabled=${isBusy}>${from ? "Send it again" : "Produce"}</button></form><//>`;
}

function written(form, isNull, isNew) {
  const headers = form.get("headers").split("\n").filter((line) => line.trim()).map((line) => {
    const [each, ...value] = line.split("=");
    return { name: each.trim(), value: value.join("=") };
  });
  const body = { key: isNull.key ? null : form.get("key") || (isNew ? null : ""), value: isNull.value ? null : form.get("value"), headers };
  for (const name of ["key_schema", "value_schema"]) {
    const given = form.get(name)?.trim();
    if (given) body[name] = /^[0-9]+$/.test(given) ? Number(given) : given;
  }
  if (form.get("partition")) body.partition = Number(form.get("partition"));
  return body;
}
