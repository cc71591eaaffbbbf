// What all pages share: markup, the address, requests, the stream of numbers.
import { h, render, Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { computed, effect, signal } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);
export { render, Fragment, useEffect, useMemo, useRef, useState, computed, effect, signal };

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
export const may = (role) => RANKS[console_.value?.actor.role] >= RANKS[role];

// The one stream of this tab

export const numbers = signal({ topics: {}, groups: {} });
export const streamError = signal(null);
const wantedStream = signal(null);
const isVisible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => { isVisible.value = !document.hidden; });
const liveListeners = new Set();
let source = null;

effect(() => {
  const url = isVisible.value ? wantedStream.value : null;
  source?.close();
  source = null;
  if (!url) return;
  source = new EventSource(url);
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
    for (const listener of liveListeners) listener(JSON.parse(event.data));
  });
  source.onerror = () => { streamError.value = "the stream of numbers is interrupted"; };
});

export function useStream(wanted, onLive) {
  const text = new URLSearchParams(wanted).toString();
  useEffect(() => {
    wantedStream.value = cluster.value ? apiPath("events") + "?" + text : null;
    return () => { wantedStream.value = null; };
  }, [cluster.value, text]);
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

export const Empty = ({ title, children }) => html`
  <div class="empty"><h2>${title}</h2>${children}</div>`;

export const Loading = () => html`<p class="quiet" role="status">Loading…</p>`;

export const Badge = ({ kind, children }) => html`<span class=${"badge " + kind}>${children}</span>`;

export function Copy({ text }) {
  const [done, setDone] = useState(false);
  const copy = async () => { await navigator.clipboard.writeText(text); setDone(true); setTimeout(() => setDone(false), 1500); };
  return html`<button class="small" onClick=${copy}>${done ? "Copied" : "Copy"}</button>`;
}

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
