// A table of any length: only the rows that can be seen are in the page.
import { html, useEffect, useRef, useState } from "./lib.js";

const ROW = 37;
const ALL_AT_ONCE = 150;

// The column that an address names, as `lag` or, from the greatest on, `-lag`. What is unknown comes last.
export function sorted(rows, columns, sort) {
  const column = columns.find((each) => each.by && each.key === sort.replace(/^-/, ""));
  if (!column) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const order = (one, other) => (one === other ? 0 : one === undefined || one === null ? 1 : other === undefined || other === null ? -1 : one < other ? -sign : sign);
  return [...rows].sort((one, other) => order(column.by(one), column.by(other)));
}

// Numbers are wanted from the greatest on, names from the first; a second time it is the other way.
function Head({ column, sort, onSort }) {
  if (!column.by || !onSort) return html`<th scope="col" class=${column.kind || ""}>${column.name}</th>`;
  const isUp = sort === column.key, isDown = sort === `-${column.key}`, isNumber = column.kind === "number";
  const next = isUp ? `-${column.key}` : isDown || !isNumber ? column.key : `-${column.key}`;
  return html`<th scope="col" class=${column.kind || ""} aria-sort=${isUp ? "ascending" : isDown ? "descending" : undefined}>
    <button class="sort" onClick=${() => onSort(next)}>${column.name}<span aria-hidden="true">${isUp ? " ▲" : isDown ? " ▼" : ""}</span></button></th>`;
}

export function Table({ columns, rows, label, keyOf, onOpen, sort = "", onSort }) {
  const body = useRef();
  const [range, setRange] = useState([0, 60]);
  const isVirtual = rows.length > ALL_AT_ONCE;
  useEffect(() => {
    if (!isVirtual) return undefined;
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(Math.floor(-top / ROW) - 10, 0);
      setRange([first, first + Math.ceil(innerHeight / ROW) + 20]);
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => { removeEventListener("scroll", look); removeEventListener("resize", look); };
  }, [isVirtual, rows.length]);
  const [start, end] = isVirtual ? [Math.min(range[0], rows.length), Math.min(range[1], rows.length)] : [0, rows.length];
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr[aria-rowindex]");
    if (!step || !row) return;
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    const target = next?.querySelector("a, button");
    if (target) { event.preventDefault(); target.focus(); }
  };
  return html`
    <div class="table" role="region" aria-label=${label} tabindex="0">
      <table aria-rowcount=${rows.length + 1} onKeyDown=${move}>
        <caption class="hidden">${label}</caption>
        <thead><tr aria-rowindex="1">${columns.map((column) => html`<${Head} column=${column} sort=${sort} onSort=${onSort} />`)}</tr></thead>
        <tbody ref=${body}>
          ${start > 0 && html`<tr class="space" aria-hidden="true"><td ref=${(cell) => cell && (cell.style.height = `${start * ROW}px`)}></td></tr>`}
          ${rows.slice(start, end).map((row, index) => html`
            <tr key=${keyOf(row)} aria-rowindex=${start + index + 2} class=${row.mark || ""}
                onClick=${onOpen && ((event) => !event.target.closest("a, button") && onOpen(row))}>
              ${columns.map((column) => html`<td class=${column.kind || ""}>${column.show(row)}</td>`)}
            </tr>`)}
          ${end < rows.length && html`<tr class="space" aria-hidden="true"><td ref=${(cell) => cell && (cell.style.height = `${(rows.length - end) * ROW}px`)}></td></tr>`}
        </tbody>
      </table>
    </div>`;
}

export function Filter({ value, onInput, label = "Filter" }) {
  return html`<label class="filter"><span class="hidden">${label}</span>
    <input type="search" data-filter placeholder=${`${label} (press /)`} value=${value}
      onInput=${(event) => onInput(event.target.value)} /></label>`;
}
