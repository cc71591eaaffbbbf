// Ctrl-K: pages, topics, groups and actions by a few letters.
import { api, apiPath, at, Dialog, go, html, signal, useEffect, useMemo, useRef, useState, visible } from "./lib.js";

export const paletteOpen = signal(false);
const SHOWN_MAX = 24;

function score(name, wanted) {
  let position = 0, from = 0;
  for (const letter of wanted) {
    position = name.indexOf(letter, from);
    if (position < 0) return Infinity;
    from = position + 1;
  }
  return name.includes(wanted) ? name.indexOf(wanted) : 1000 + from;
}

export function Palette({ pages, actions }) {
  const [wanted, setWanted] = useState("");
  const [active, setActive] = useState(0);
  const [names, setNames] = useState({ topics: [], groups: [] });
  const input = useRef();
  useEffect(() => {
    input.current.focus();
    for (const kind of ["topics", "groups"]) {
      api(apiPath(kind)).then((found) => setNames((old) => ({ ...old, [kind]: found[kind] })), () => {});
    }
  }, []);
  const all = useMemo(() => [
    ...pages.map(([name, path, key]) => ({ kind: `page, g ${key}`, name, run: () => go(path ? at(path) : at()) })),
    ...actions.map(([name, run]) => ({ kind: "action", name, run })),
    ...names.topics.map((each) => ({ kind: "topic", name: each.name, run: () => go(at("topics", each.name)) })),
    ...names.groups.map((each) => ({ kind: "group", name: each.group, run: () => go(at("groups", each.group)) })),
  ], [names]);
  const text = wanted.trim().toLowerCase();
  const found = useMemo(() => all
    .map((each) => ({ ...each, score: text ? score(each.name.toLowerCase(), text) : 0 }))
    .filter((each) => each.score < Infinity)
    .sort((one, other) => one.score - other.score)
    .slice(0, SHOWN_MAX), [all, text]);
  const close = () => { paletteOpen.value = false; };
  const choose = (each) => { close(); each.run(); };
  const keys = (event) => {
    if (event.key === "ArrowDown") { setActive(Math.min(active + 1, found.length - 1)); event.preventDefault(); }
    if (event.key === "ArrowUp") { setActive(Math.max(active - 1, 0)); event.preventDefault(); }
    if (event.key === "Enter" && found[active]) { event.preventDefault(); choose(found[active]); }
  };
  return html`<${Dialog} title="Go to" onClose=${close}>
    <input ref=${input} type="text" role="combobox" aria-expanded="true" aria-controls="palette-list"
      aria-activedescendant=${found[active] ? `palette-${active}` : undefined} aria-label="Topic, group, page or action"
      placeholder="Topic, group, page or action" value=${wanted} onKeyDown=${keys}
      onInput=${(event) => { setWanted(event.target.value); setActive(0); }} />
    <ul id="palette-list" role="listbox" aria-label="Found" class="palette">
      ${found.map((each, index) => html`<li id=${`palette-${index}`} role="option" aria-selected=${index === active}
        onClick=${() => choose(each)}><span>${visible(each.name)}</span><span class="quiet">${each.kind}</span></li>`)}
    </ul>
    ${found.length === 0 && html`<p class="quiet">Nothing is called that.</p>`}
    <p class="quiet">↑ ↓ choose, Enter opens, Esc closes. Elsewhere: / filters, g t topics, g g groups, g b brokers.</p>
  <//>`;
}
