// The form of a connector, as `validate` describes it: errors stand at their fields.
import { api, apiPath, at, Dialog, Empty, Failure, go, html, Loading, useEffect, useLoad, useState, visible } from "../../lib.js";
import { Choice, useSend } from "./parts.js";

export function ConnectorForm({ worker, connector, config, onClose, onDone }) {
  const form = html`<${Form} worker=${worker} connector=${connector} config=${config} onDone=${onDone} />`;
  return connector ? html`<${Dialog} title=${`Settings of ${visible(connector)}`} onClose=${onClose}>${form}<//>` : html`<${Plugins} worker=${worker} />`;
}

function Plugins({ worker }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("connect", worker, "plugins"), { signal: abort }), [worker]);
  const [plugin, setPlugin] = useState("");
  if (!data) return error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  const found = data.plugins.filter((each) => ["source", "sink"].includes(each.type));
  if (!found.length) return html`<${Empty} title="The worker has no connectors"><p>Put plugins into the directories of plugin.path, and start it again.</p><//>`;
  return html`<div class="bar"><${Choice} label="Class" value=${plugin} onChange=${setPlugin}
      choices=${[["", "choose one"], ...found.map((each) => [each.class, `${each.class.split(".").pop()}, ${each.type}${each.version ? `, ${each.version}` : ""}`])]} /></div>
    ${plugin && html`<${Form} key=${plugin} worker=${worker} config=${{ "connector.class": plugin, name: "" }} />`}`;
}

function Form({ worker, connector, config, onDone }) {
  const [values, setValues] = useState(config);
  const [shown, setShown] = useState(null);
  const [isWhole, setIsWhole] = useState(false);
  const [extra, setExtra] = useState("");
  const checking = useSend(setShown);
  const saving = useSend(() => connector ? onDone() : go(at("connect", worker) + "?" + new URLSearchParams({ name: values.name })));
  const all = () => ({ ...values, ...Object.fromEntries(extra.split("\n").filter((line) => line.includes("=")).map((line) => { const [name, ...rest] = line.split("="); return [name.trim(), rest.join("=").trim()]; })) });
  const check = () => checking.send(apiPath("connect", worker, "plan"), "POST", { config: all(), connector });
  useEffect(() => { check(); }, []);
  if (!shown) return checking.error ? html`<${Failure} error=${checking.error} retry=${check} />` : html`<${Loading} />`;
  const set = (name, value) => setValues((old) => { const next = { ...old }; if (value === "" && config[name] === undefined) delete next[name]; else next[name] = value; return next; });
  const known = new Set(shown.fields.map((each) => each.name));
  const named = shown.fields.filter((each) => each.name !== "connector.class");
  const isUsed = (each) => each.required || each.errors.length || values[each.name] !== undefined || each.name === "name";
  const visibleFields = named.filter((each) => each.is_visible && (isWhole || isUsed(each) || each.importance === "high"));
  const others = Object.entries(values).filter(([name]) => !known.has(name) && name !== "connector.class");
  const groups = [...new Set(visibleFields.map((each) => each.group))];
  const save = async (event) => {
    event.preventDefault();
    const found = await checking.send(apiPath("connect", worker, "plan"), "POST", { config: all(), connector });
    if (!found || found.errors) return;
    const path = connector ? [apiPath("connect", worker, "connectors", connector, "config"), "PUT", { config: all() }] : [apiPath("connect", worker, "connectors"), "POST", { name: values.name, config: all() }];
    await saving.send(...path);
  };
  const missing = shown.fields.filter((each) => each.errors.length).length;
  return html`<form onSubmit=${save} autocomplete="off">
    <${Failure} error=${checking.error || saving.error} />
    ${groups.map((group) => html`<fieldset key=${group}><legend>${visible(group) || "Settings"}</legend>
      ${visibleFields.filter((each) => each.group === group).map((each) => html`<${Setting} key=${each.name} field=${each} value=${values[each.name]} onInput=${set} isNameFixed=${Boolean(connector)} />`)}</fieldset>`)}
    ${others.length > 0 && html`<fieldset><legend>Other settings</legend>${others.map(([name, value]) => html`<label key=${name}>${visible(name)} <input value=${value} onInput=${(event) => set(name, event.target.value)} /></label>`)}</fieldset>`}
    <label class="check"><input type="checkbox" checked=${isWhole} onChange=${(event) => setIsWhole(event.target.checked)} /> All ${named.length} settings that it knows</label>
    <label>More settings, one name=value per line <textarea rows="3" value=${extra} spellcheck="false" onInput=${(event) => setExtra(event.target.value)}></textarea></label>
    ${missing > 0 && html`<p class="wrong" role="status">${missing} settings are not as they should be: see the fields.</p>`}
    <div class="actions"><button type="button" disabled=${checking.isBusy} onClick=${check}>Check</button>
      <button class="primary" disabled=${checking.isBusy || saving.isBusy}>${connector ? "Change" : "Make the connector"}</button></div>
  </form>`;
}

function Setting({ field, value, onInput, isNameFixed }) {
  const id = `setting-${field.name}`, problem = field.errors.length > 0;
  const common = { id, "aria-invalid": problem ? "true" : undefined, "aria-describedby": `${id}-about`, disabled: isNameFixed && field.name === "name" };
  const text = value ?? "";
  const placeholder = field.default ? `default: ${visible(field.default)}` : "";
  const input = field.type === "BOOLEAN" ? html`<select ...${common} onChange=${(event) => onInput(field.name, event.target.value)}>
      ${["", "true", "false"].map((each) => html`<option value=${each} selected=${each === text}>${each || placeholder || "not set"}</option>`)}</select>`
    : html`<input ...${common} type=${field.is_secret ? "password" : "text"} autocomplete="off" value=${text} placeholder=${placeholder} list=${field.recommended.length ? `${id}-list` : undefined} onInput=${(event) => onInput(field.name, event.target.value)} />`;
  return html`<div class="setting"><label for=${id}>${visible(field.label)}${field.required ? " *" : ""}</label>${input}
    ${field.recommended.length > 0 && html`<datalist id=${`${id}-list`}>${field.recommended.map((each) => html`<option value=${each} />`)}</datalist>`}
    <span id=${`${id}-about`} class="hint">${field.errors.map((each) => html`<span class="wrong">✗ ${visible(each)} </span>`)}<span class="quiet">${field.label === field.name ? "" : `${visible(field.name)}. `}${visible(field.documentation)}</span></span></div>`;
}
