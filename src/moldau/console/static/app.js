// The frame of all pages: navigation, palette, keys, theme; and which page an address means.
import { address, api, at, cluster, console_, effect, Failure, go, html, isUtc, parts, render, signal, streamError, useEffect, useLoad, visible } from "./lib.js";
import { isLater, Later, LATER } from "./later.js";
import { Palette, paletteOpen } from "./palette.js";
import { Overview } from "./pages/overview.js";
import { Topics } from "./pages/topics.js";
import { Topic } from "./pages/topic.js";
import { Brokers, BrokerConfigs } from "./pages/brokers.js";
import { Groups } from "./pages/groups.js";
import { Group } from "./pages/group.js";

const PAGES = [
  ["Overview", "", "o"], ["Topics", "topics", "t"], ["Groups", "groups", "g"], ["Brokers", "brokers", "b"], ...LATER,
];
export const theme = signal(localStorage.getItem("theme") ||
  (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
effect(() => { document.documentElement.dataset.theme = theme.value; });

function toggleTheme() {
  theme.value = theme.value === "dark" ? "light" : "dark";
  localStorage.setItem("theme", theme.value);
}
function toggleUtc() {
  isUtc.value = !isUtc.value;
  localStorage.setItem("utc", isUtc.value ? "1" : "0");
}

function Page() {
  const [, , area, name, ...rest] = parts.value;
  if (!area) return html`<${Overview} />`;
  if (area === "topics") return name ? html`<${Topic} name=${name} tab=${rest[0]} key=${name} />` : html`<${Topics} />`;
  if (area === "groups") return name !== undefined ? html`<${Group} id=${name} key=${name} />` : html`<${Groups} />`;
  if (area === "brokers") return name ? html`<${BrokerConfigs} broker=${name} key=${name} />` : html`<${Brokers} />`;
  if (isLater(area)) return html`<${Later} area=${area} rest=${[name, ...rest]} key=${area} />`;
  return html`<h1>There is no such page</h1><p><a href=${at()}>Go to the overview</a></p>`;
}

function Shell() {
  const me = useLoad((abort) => api("/api/console", { signal: abort }), []);
  useEffect(() => {
    if (!me.data) return;
    console_.value = me.data;
    if (!me.data.clusters.includes(cluster.value)) go("/c/" + encodeURIComponent(me.data.clusters[0]), { replace: true });
  }, [me.data]);
  useEffect(() => {  // on a phone the pages' names are a row that scrolls
    const row = document.querySelector("aside nav"), current = row?.querySelector("[aria-current]");
    if (current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.clientWidth) / 2;
  }, [parts.value[2], console_.value]);
  useEffect(() => {
    document.title = parts.value.slice(2).map(visible).join(" / ") || "Moldau console";
  }, [address.value]);
  if (me.error) return html`<main><${Failure} error=${me.error} retry=${me.reload} /></main>`;
  if (!console_.value || !cluster.value) return null;
  const area = parts.value[2] || "";
  const { clusters, actor, read_only: isReadOnly } = console_.value;
  return html`
    <a class="skip" href="#main">Skip to the page</a>
    <aside>
      <a class="brand" href=${at()}><img src="/static/icon.svg" alt="" width="26" height="26" /> Moldau</a>
      ${clusters.length > 1 && html`<label class="cluster"><span class="hidden">Cluster</span>
        <select onChange=${(event) => go("/c/" + encodeURIComponent(event.target.value))}>
          ${clusters.map((each) => html`<option value=${each} selected=${each === cluster.value}>${each}</option>`)}
        </select></label>`}
      <nav aria-label="Main">
        ${PAGES.map(([name, path]) => html`<a href=${path ? at(path) : at()} aria-current=${area === path ? "page" : undefined}>${name}</a>`)}
      </nav>
      <div class="foot">
        <button class="small" onClick=${() => { paletteOpen.value = true; }} aria-keyshortcuts="Control+K">Search <kbd>Ctrl K</kbd></button>
        <button class="small" onClick=${toggleTheme}>${theme.value === "dark" ? "Light" : "Dark"}</button>
        <button class="small" onClick=${toggleUtc} aria-pressed=${isUtc.value}>UTC</button>
        <span class="quiet who"><a class="quiet" href=${at("me")}>${visible(actor.name)} · ${actor.role}${isReadOnly ? " · read-only" : ""}</a> · <a class="quiet" href=${at("api")}>API</a></span>
      </div>
    </aside>
    <main id="main">
      ${streamError.value && html`<div class="notice warn" role="status">No fresh numbers: ${visible(streamError.value)}. This page tries again by itself.</div>`}
      <${Page} />
    </main>
    ${paletteOpen.value && html`<${Palette} pages=${PAGES} actions=${[["Switch between dark and light", toggleTheme], ["Switch between UTC and local time", toggleUtc], ["Show the HTTP API", () => go(at("api"))]]} />`}`;
}

let isAfterG = false;
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    paletteOpen.value = true;
    return;
  }
  const isTyping = event.target.matches?.("input, textarea, select") || document.querySelector("dialog[open]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    const filter = document.querySelector("[data-filter]");
    if (filter) { event.preventDefault(); filter.focus(); }
  } else if (isAfterG) {
    isAfterG = false;
    const page = PAGES.find(([, , key]) => key === event.key);
    if (page) go(page[1] ? at(page[1]) : at());
  } else if (event.key === "g") {
    isAfterG = true;
    setTimeout(() => { isAfterG = false; }, 1000);
  } else if (event.key === "?") {
    paletteOpen.value = true;
  }
});

render(html`<${Shell} />`, document.getElementById("app"));
