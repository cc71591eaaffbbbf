// A new topic, with settings that say what they mean.
import { api, apiPath, at, Dialog, Failure, go, html, useEffect, useState, visible } from "../../lib.js";

// Brokers document settings with those of a topic that there is; without any, they are written by hand.
export function Create({ example, onClose }) {
  const [error, setError] = useState(null);
  const [known, setKnown] = useState([]);
  const [chosen, setChosen] = useState([]);
  useEffect(() => { if (example !== undefined) api(apiPath("topics", example, "configs")).then((found) => setKnown(found.configs), () => {}); }, [example]);
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const number = (name) => (form.get(name) ? Number(form.get(name)) : null);
    const lines = (form.get("configs") || "").split("\n").map((line) => line.split("=")).map(([name, ...value]) => [name.trim(), value.join("=").trim()]);
    const configs = Object.fromEntries([...lines, ...chosen.map((each) => [each, form.get(`setting ${each}`)])].filter(([name, value]) => name && value !== ""));
    try {
      await api(apiPath("topics"), { method: "POST", body: { name: form.get("name"), partitions: number("partitions"), replication_factor: number("replicas"), configs } });
      onClose();
      go(at("topics", form.get("name")));
    } catch (failure) { setError(failure); }
  };
  const others = known.filter((each) => !chosen.includes(each.name) && !each.is_read_only).map((each) => each.name).sort();
  return html`<${Dialog} title="Create a topic" onClose=${onClose}>
    <form onSubmit=${submit}>
      <${Failure} error=${error} />
      <label>Name <input name="name" required autofocus pattern="[a-zA-Z0-9._\\-]+" maxlength="249" /></label>
      <label>Partitions <input name="partitions" type="number" min="1" placeholder="the brokers' default" /></label>
      <label>Replicas of each <input name="replicas" type="number" min="1" placeholder="the brokers' default" /></label>
      ${chosen.map((name) => html`<${Setting} key=${name} of=${known.find((each) => each.name === name)} />`)}
      ${known.length ? html`<label>Settings <select name="add" value="" onChange=${(event) => setChosen([...chosen, event.target.value])}>
          <option value="">as the brokers have them; choose one to set it</option>${others.map((each) => html`<option value=${each}>${each}</option>`)}</select></label>`
        : html`<label>Settings, one name=value per line <textarea name="configs" rows="3" placeholder="retention.ms=604800000"></textarea></label>`}
      <button class="primary">Create</button>
    </form>
  <//>`;
}

const Setting = ({ of: { name, value, is_set: isSet, default: usual, documentation } }) => html`
  <label>${name} <input name=${`setting ${name}`} placeholder=${`default: ${visible((isSet ? usual : value) ?? "none")}`} />
    <span class="quiet hint">${visible(documentation || "The broker says nothing about it.")}</span></label>`;
