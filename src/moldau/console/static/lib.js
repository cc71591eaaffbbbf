// What all pages share: markup, the address, requests, the stream of numbers.
import { h, render, Fragment } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { computed, effect, signal } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);
export { render, Fragment, useCallback, useEffect, useMemo, useRef, useState, computed, effect, signal };

// The address

export const address = signal(location.pathname + location.search);
addEventListener("popstate", () => { address.value = location.pathname + location.search; });

export function go(url, { replace = false } = {}) {
  if (url === address.value) return;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  address.value = url;
  if (!replace) scrollTo(0, 0);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const href = link.getAttribute("href");
  if (!href.startsWith("/c/") || link.target || link.hasAttribute("download")) return;
  event.preventDefault();
  go(href);
});

export const parts = computed(() =>
  address.value.split("?")[0].split("/").filter(Boolean).map((each) => decodeURIComponent(each)));
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] || ""));
export const cluster = computed(() => (parts.value[0] === "c" ? parts.value[1] : undefined));
export const console_ = signal(null);

export const at = (...names) => "/c/" + [cluster.value, ...names].map(encodeURIComponent).join("/");
export const apiPath = (...names) =>
  "/api/clusters/" + [cluster.value, ...names].map(encodeURIComponent).join("/");

export function withQuery(changes) {
  const wanted = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === "" || value === false) wanted.delete(name);
    else wanted.set(name, value);
  }
  const text = wanted.toString();
  return address.value.split("?")[0] + (text ? "?" + text : "");
}

// Requests

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

export async function api(path, { method = "GET", body, signal: abort } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method, signal: abort,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "the console does not answer: is it still running?");
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, found.message || `HTTP ${answer.status}`);
  return found;
}

// What an answer says line by line, as it comes.
export async function* lines(path, { method = "GET", body, signal: abort } = {}) {
  const isJson = body !== undefined && !(body instanceof Blob);
  const answer = await fetch(path, {
    method, signal: abort, body: isJson ? JSON.stringify(body) : body,
    headers: body === undefined ? {} : { "Content-Type": isJson ? "application/json" : "application/octet-stream" },
  });
  if (!answer.ok) throw new Refused(answer.status, (await answer.json().catch(() => ({}))).message || `HTTP ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const found = (rest + value).split("\n");
    rest = found.pop();
    for (const line of found) {
      if (!line) continue;
      abort?.throwIfAborted(); // or what had arrived before would be shown with the next answer
      yield JSON.parse(line);
    }
  }
}

export function useLoad(load, dependencies) {
  const [state, setState] = useState({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (data) => setState({ data }),
      (error) => { if (error.name !== "AbortError") setState((old) => ({ data: old.data, error })); });
    return () => abort.abort();
  }, [...dependencies, turn]);
  return { ...state, reload: () => setTurn((old) => old + 1) };
}

const RANKS = { viewer: 1, reader: 2, operator: 3, admin: 4 };
// On the page of a topic, the role on that topic counts as well.
export function may(role) {
  const actor = console_.value?.actor, topic = parts.value[2] === "topics" ? parts.value[3] : undefined;
  const granted = (actor?.grants || []).filter((each) => topic !== undefined && each.topics.some((pattern) => isMeant(topic, pattern)));
  const own = ["connect", "schemas"].includes(parts.value[2]) ? actor?.beside : actor?.role;
  return [own, ...granted.map((each) => each.role)].some((each) => RANKS[each] >= RANKS[role]);
}
function isMeant(topic, pattern) {
  const [first, ...rest] = pattern.split("*");
  if (!rest.length) return topic === pattern;
  const last = rest.pop();
  let at = first.length;
  if (!topic.startsWith(first) || !topic.endsWith(last) || topic.length < at + last.length) return false;
  for (const each of rest) {
    at = topic.indexOf(each, at);
    if (at < 0) return false;
    at += each.length;
  }
  return at <= topic.length - last.length;
}

// The one stream of this tab

export const numbers = signal({ topics: {}, groups: {} });
export const streamError = signal(null);
const wantedStream = signal(null);
const isVisible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => { isVisible.value = !document.hidden; });
const liveListeners = new Set();
// Where a live view goes on when its stream is opened again: after a pause, or in a tab that was hidden.
export const live = { cursor: "" };
let source = null;

effect(() => {
  const url = isVisible.value ? wantedStream.value : null;
  source?.close();
  source = null;
  if (!url) return;
  source = new EventSource(live.cursor && url.includes("/live?") ? `${url}&cursor=${encodeURIComponent(live.cursor)}` : url);
  source.addEventListener("numbers", (event) => {
    const found = JSON.parse(event.data);
    const old = numbers.peek();
    streamError.value = found.error;
    numbers.value = {
      ...old, ...found,
      topics: { ...old.topics, ...found.topics },
      groups: { ...old.groups, ...found.groups },
    };
  });
  source.addEventListener("live", (event) => {
    const found = JSON.parse(event.data);
    if (found.cursor) live.cursor = found.cursor;
    if (found.is_over) source.close();
    for (const listener of liveListeners) listener(found);
  });
  source.onerror = () => { streamError.value = "the stream of numbers is interrupted"; };
});

// A path of its own has records as well as numbers: it takes the place of the stream of numbers.
export function useStream(wanted, onLive, path = ["events"]) {
  const url = cluster.value && path ? `${apiPath(...path)}?${new URLSearchParams(wanted)}` : null;
  useEffect(() => {
    wantedStream.value = url;
    return () => { wantedStream.value = null; };
  }, [url]);
  useEffect(() => {
    if (!onLive) return undefined;
    liveListeners.add(onLive);
    return () => liveListeners.delete(onLive);
  }, [onLive]);
}

// Text of others: control and direction characters are shown as marks, never as what they do.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
export const visible = (text) =>
  String(text ?? "").replace(HIDDEN, (each) => `⟨U+${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

// Numbers and times

export function count(value) {
  if (value === null || value === undefined) return "–";
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}
export function bytes(value) {
  if (value === null || value === undefined || value < 0) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = value, unit = 0;
  while (size >= 1024 && unit < units.length - 1) { size /= 1024; unit += 1; }
  return `${unit ? size.toFixed(size < 10 ? 1 : 0) : size}\u202f${units[unit]}`;
}
export const rate = (value) =>
  value === null || value === undefined ? "–" : value < 10 ? String(Math.round(value * 10) / 10) : count(Math.round(value));
export const isUtc = signal(localStorage.getItem("utc") === "1");
export function time(ms) {
  if (ms === null || ms === undefined || ms < 0) return "no time";
  const when = new Date(ms);
  if (isUtc.value) return when.toISOString().replace("T", " ");
  const two = (value, width = 2) => String(value).padStart(width, "0");
  const offset = -when.getTimezoneOffset(), sign = offset < 0 ? "-" : "+";
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ` +
    `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}.${two(when.getMilliseconds(), 3)}` +
    `${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}

export function ago(ms, now = Date.now()) {
  const seconds = Math.max((now - ms) / 1000, 0);
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (seconds >= size) return `${count(Math.floor(seconds / size))}\u202f${unit} ago`;
  return seconds < 5 ? "now" : `${Math.floor(seconds)}\u202fs ago`;
}

// Small parts of pages

export const Title = ({ children, actions, crumbs = [] }) => html`
  <header class="title">
    <div>
      ${crumbs.length > 0 && html`<nav aria-label="Breadcrumb" class="crumbs">
        ${crumbs.map(([name, url]) => html`<a href=${url}>${name}</a> / `)}</nav>`}
      <h1 tabindex="-1">${children}</h1>
    </div>
    <div class="actions">${actions}</div>
  </header>`;

export const Failure = ({ error, retry }) => error && html`
  <div class="notice bad" role="alert">
    <strong>${error.status === 403 ? "Not allowed." : error.status === 503 || error.status === 0 ? "No answer." : "That did not work."}</strong>
    ${" "}${visible(error.message)}
    ${retry && html` <button onClick=${retry}>Try again</button>`}
  </div>`;

// Brokers that said nothing: what is shown is not all there is.
export const Missing = ({ brokers, what }) => brokers?.length > 0 && html`
  <div class="notice warn" role="status"><strong>Not all ${what}.</strong> ${brokers.map((each) => `Broker ${each.broker}: ${visible(each.error)}`).join("; ")}. Those that it coordinates are not shown.</div>`;

export const Empty = ({ title, children }) => html`
  <div class="empty"><h2>${title}</h2>${children}</div>`;

export const Loading = () => html`<p class="quiet" role="status">Loading…</p>`;

// A part of a page that is loaded when it is first shown.
export function later(load, name) {
  let Part = null;
  return (given) => {
    const [, setDone] = useState(Boolean(Part));
    useEffect(() => { if (!Part) load().then((found) => { Part = found[name]; setDone(true); }); }, []);
    return Part ? h(Part, given) : html`<${Loading} />`;
  };
}

export const Badge = ({ kind, children }) => html`<span class=${"badge " + kind}>${children}</span>`;

export function Copy({ text }) {
  const [done, setDone] = useState(false);
  const copy = async () => { await navigator.clipboard.writeText(text); setDone(true); setTimeout(() => setDone(false), 1500); };
  return html`<button class="small" onClick=${copy}>${done ? "Copied" : "Copy"}</button>`;
}

export const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

export const Command = ({ text }) => html`<div class="command"><code>${text}</code><${Copy} text=${text} /></div>`;

export function Dialog({ title, onClose, children }) {
  const dialog = useRef();
  useEffect(() => { dialog.current.showModal(); }, []);
  return html`<dialog ref=${dialog} onClose=${onClose} aria-labelledby="dialog-title">
    <header><h2 id="dialog-title">${title}</h2>
      <button class="small" aria-label="Close" onClick=${() => dialog.current.close()}>✕</button></header>
    ${children}
  </dialog>`;
}

// Tabs are links: each is an address of its own.
export const Tabs = ({ tabs, current }) => html`
  <nav class="tabs" aria-label="Parts of this page">
    ${tabs.map(([name, url]) => html`<a href=${url} aria-current=${name === current ? "page" : undefined}>${name}</a>`)}
  </nav>`;
