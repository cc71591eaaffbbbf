// What pages of administration share: sending, confirming, plans, fields.
import { api, Dialog, Failure, html, useEffect, useRef, useState, visible } from "../../lib.js";

// One request at a time; a failure stays on the page until the next one.
export function useSend(onDone) {
  const [state, setState] = useState({});
  const isThere = useRef(true);
  useEffect(() => () => { isThere.current = false; }, []);
  const send = async (path, method, body) => {
    setState({ isBusy: true });
    try {
      const found = await api(path, { method, body });
      if (isThere.current) setState({});
      onDone?.(found);
      return found;
    } catch (error) {
      if (isThere.current) setState({ error });
      return undefined;
    }
  };
  return { ...state, send, forget: () => setState({}) };
}

export const Field = ({ label, hint, error, ...rest }) => html`
  <label>${label} <input aria-invalid=${error ? "true" : undefined} ...${rest} />
    ${hint && html`<span class="quiet hint">${hint}</span>`}
    ${error && html`<span class="wrong">${visible(error)}</span>`}</label>`;

export const Choice = ({ label, value, choices, onChange, ...rest }) => html`
  <label>${label} <select onChange=${(event) => onChange?.(event.target.value)} ...${rest}>
    ${choices.map((each) => {
      const [name, text] = Array.isArray(each) ? each : [each, each];
      return html`<option value=${name} selected=${name === value}>${text}</option>`;
    })}</select></label>`;

// A dialog that does one thing; what cannot be undone asks for a name to be typed.
export function Confirm({ title, verb, path, method = "POST", body = {}, typed, onClose, onDone, children }) {
  const [text, setText] = useState("");
  const { send, error, isBusy } = useSend((found) => { onClose(); onDone?.(found); });
  const submit = (event) => { event.preventDefault(); send(path, method, typed === undefined ? body : { ...body, confirm: text }); };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}><${Failure} error=${error} />${children}
      ${typed !== undefined && html`<label><span>Type <code>${visible(typed)}</code> to go on</span>
        <input autofocus autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} /></label>`}
      <button class="danger" disabled=${isBusy || (typed !== undefined && text !== typed)}>${verb}</button>
    </form><//>`;
}

export const Notes = ({ notes }) => notes?.length > 0 && html`
  <div class="notice warn"><ul>${notes.map((each) => html`<li>${visible(each)}</li>`)}</ul></div>`;

export const fields = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));

export function age(ms) {
  if (ms === null || ms === undefined || ms < 0) return "–";
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}
