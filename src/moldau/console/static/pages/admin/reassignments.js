// Moves of replicas between brokers, and elections of leaders.
import { api, apiPath, at, Badge, bytes, cluster, count, Dialog, Empty, Failure, html, Loading, may, Title, useEffect, useLoad, useState, visible } from "../../lib.js";
import { Table } from "../../table.js";
import { Confirm, Field, fields, useSend } from "./parts.js";
import { Overall, planColumns, Spread } from "./spread.js";

const AGAIN_MS = 3000;
const nameOf = (row) => `${row.topic}-${row.partition}`;
const linked = { name: "Partition", show: (row) => html`<a href=${at("topics", row.topic, "partitions")}>${visible(row.topic)}-${row.partition}</a>` };

export function Page() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("reassignments"), { signal: abort }), [cluster.value]);
  const [dialog, setDialog] = useState(null);
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) reload(); }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const [begun, setBegun] = useState(0);
  useEffect(() => { if (data) setBegun((old) => (data.moves.length ? Math.max(old, data.moves.length) : 0)); }, [data]);
  const close = () => setDialog(null), done = () => { close(); reload(); };
  const columns = [
    linked,
    { name: "Copied", show: (row) => html`<${Progress} row=${row} />` },
    { name: "To", show: (row) => row.adding.join(", ") || html`<span class="quiet">no new broker</span>` },
    { name: "From", show: (row) => row.removing.join(", ") || html`<span class="quiet">none</span>` },
    ...(may("admin") ? [{ name: "", show: (row) => html`<button class="small danger" onClick=${() => setDialog({ cancel: [row] })}>Cancel…</button>` }] : []),
  ];
  const throttled = Object.entries(data?.throttles || {});
  return html`<${Title} actions=${may("admin") && html`
      <button class="primary" onClick=${() => setDialog({ move: true })}>Move a partition…</button>
      <button onClick=${() => setDialog({ spread: true })}>Spread partitions…</button>
      ${data?.moves.length > 0 && html`<button onClick=${() => setDialog({ throttle: true })}>Slow down…</button>
        <button class="danger" onClick=${() => setDialog({ cancel: data.moves })}>Cancel all…</button>`}`}>Moves and elections<//>
    <${Failure} error=${error} retry=${reload} />
    ${throttled.length > 0 && html`<div class="notice warn"><strong>Copying is slowed down</strong> on broker ${throttled.map(([broker, rates]) => `${broker} (${[...new Set(Object.values(rates))].map((each) => `${bytes(Number(each))}/s`).join(", ")})`).join(", broker ")}.
      ${data.moves.length === 0 && " Nothing moves now: what is left of a throttle also slows down replicas that have fallen behind."}
      ${may("admin") && html` <button class="small" onClick=${() => setDialog({ unthrottle: true })}>Take the throttles away…</button>`}</div>`}
    <h2>Moves under way</h2>
    ${!data ? !error && html`<${Loading} />` : data.moves.length ? html`<${Overall} moves=${data.moves} begun=${begun} /><${Table} label="Moves" columns=${columns} rows=${data.moves} keyOf=${nameOf} />`
      : html`<${Empty} title="Nothing moves"><p>Partitions stay where they are. Move one, or spread many over brokers.</p><//>`}
    <${Elections} />
    ${dialog?.move && html`<${Move} onClose=${close} onDone=${done} />`}
    ${dialog?.spread && html`<${Spread} onClose=${close} onDone=${done} />`}
    ${dialog?.throttle && html`<${Throttle} onClose=${close} onDone=${done} />`}
    ${dialog?.unthrottle && html`<${Confirm} title="Take all throttles away?" verb="Take away" method="DELETE" path=${apiPath("reassignments", "throttle")} onClose=${close} onDone=${reload}>
      <p>Brokers copy as fast as they can, of moves and of replicas that are behind.</p><//>`}
    ${dialog?.cancel && html`<${Confirm} title=${`Cancel ${dialog.cancel.length} moves?`} verb="Cancel the moves" path=${apiPath("reassignments", "cancel")} onClose=${close} onDone=${reload}
      body=${{ partitions: dialog.cancel.map(({ topic, partition }) => ({ topic, partition })) }}>
      <p>The partitions stay with the brokers that had them: ${dialog.cancel.slice(0, 5).map((each) => visible(nameOf(each))).join(", ")}${dialog.cancel.length > 5 ? ", …" : ""}. What was copied is removed.</p><//>`}`;
}

function Progress({ row }) {
  const all = row.bytes_in_all;
  if (!all) return html`<span class="quiet">${row.adding.length ? "nothing to copy yet" : "leaders and order alone"}</span>`;
  return html`<progress max=${all} value=${row.bytes} aria-label=${`Copied of ${nameOf(row)}`}></progress> ${Math.floor((100 * row.bytes) / all)} % <span class="quiet">of ${bytes(all)}</span>`;
}

const places = (text) => text.split(/[\s,]+/).filter(Boolean).map(Number);

function Move({ onClose, onDone }) {
  const [plan, setPlan] = useState(null);
  const planning = useSend(setPlan), moving = useSend(onDone);
  const show = (event) => {
    event.preventDefault();
    const given = fields(event.target);
    planning.send(apiPath("reassignments", "plan"), "POST", { moves: [{ topic: given.topic, partition: Number(given.partition), replicas: places(given.replicas) }] });
  };
  return html`<${Dialog} title="Move a partition" onClose=${onClose}>
    <form onSubmit=${show} onInput=${() => setPlan(null)}><${Failure} error=${planning.error} />
      <${Field} label="Topic" name="topic" required autofocus /><${Field} label="Partition" name="partition" type="number" min="0" required />
      <${Field} label="Brokers, the first to lead" name="replicas" required pattern="[0-9]+([ ,]+[0-9]+)*" placeholder="1, 2, 3" />
      <button class=${plan ? "" : "primary"} disabled=${planning.isBusy}>Show the plan</button></form>
    ${plan && html`<${Table} label="The plan" columns=${planColumns} rows=${plan.moves} keyOf=${nameOf} /><${Failure} error=${moving.error} />
      <button class="primary" disabled=${moving.isBusy} onClick=${() => moving.send(apiPath("reassignments"), "POST", { moves: plan.moves.map((each) => ({ topic: each.topic, partition: each.partition, replicas: each.new })) })}>Begin to move</button>`}
  <//>`;
}

function Throttle({ onClose, onDone }) {
  const { send, error, isBusy } = useSend(onDone);
  const submit = (event) => { event.preventDefault(); send(apiPath("reassignments", "throttle"), "PUT", { bytes_per_s: Math.round(Number(fields(event.target).rate) * 1048576) }); };
  return html`<${Dialog} title="Slow moves down" onClose=${onClose}><form onSubmit=${submit}><${Failure} error=${error} />
    <${Field} label="MiB per second and broker" name="rate" type="number" min="0.1" step="any" required autofocus hint="Take it away when the moves are done: it stays otherwise." />
    <button class="primary" disabled=${isBusy}>Set</button></form><//>`;
}

function Elections() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("elections"), { signal: abort }), [cluster.value]);
  const [unclean, setUnclean] = useState(null);
  const [note, setNote] = useState("");
  const electing = useSend((found) => {
    setNote(`${found.elected} leaders elected${found.failed.length ? `; not for ${found.failed.map((each) => `${nameOf(each)} (${each.error})`).join(", ")}` : ""}.`);
    reload();
  });
  const rows = data?.partitions || [], possible = rows.filter((each) => each.is_possible);
  const columns = [
    linked,
    { name: "Led by", show: (row) => row.leader === null ? html`<${Badge} kind="bad">✗ none<//>` : row.leader },
    { name: "First replica", kind: "number", show: (row) => row.preferred },
    { name: "In sync", show: (row) => row.isr.join(", ") || "none" },
    ...(may("admin") ? [{ name: "", show: (row) => row.is_possible ? html`<button class="small" onClick=${() => elect([row])}>Elect the first</button>`
      : row.leader === null ? html`<button class="small danger" onClick=${() => setUnclean(row)}>Elect, losing records…</button>` : html`<span class="quiet">broker ${row.preferred} is behind</span>` }] : []),
  ];
  const elect = (wanted) => electing.send(apiPath("elections"), "POST", { partitions: wanted.map(({ topic, partition }) => ({ topic, partition })) });
  return html`<h2>Partitions that another than their first replica leads</h2>
    <${Failure} error=${error || electing.error} retry=${error && reload} />${note && html`<p class="notice good" role="status">${visible(note)}</p>`}
    ${!data ? !error && html`<${Loading} />` : rows.length ? html`
      ${may("admin") && possible.length > 1 && html`<div class="bar"><button onClick=${() => elect(possible)}>Elect the first replica of ${count(possible.length)} partitions</button></div>`}
      <${Table} label="Partitions" columns=${columns} rows=${rows} keyOf=${nameOf} />`
      : html`<${Empty} title="None"><p>Every partition is led by its first replica, so brokers share the work as it was placed.</p><//>`}
    ${unclean && html`<${Confirm} title=${`Elect any replica of ${visible(nameOf(unclean))}?`} verb="Elect, losing records" typed=${nameOf(unclean)} path=${apiPath("elections")}
      body=${{ type: "unclean", partitions: [{ topic: unclean.topic, partition: unclean.partition }] }} onClose=${() => setUnclean(null)} onDone=${reload}>
      <p><strong>Records are lost for good</strong> if the replica that leads then lacks them. If a broker of ${unclean.isr.join(", ") || unclean.replicas.join(", ")} can be started again, do that in place of this.</p><//>`}`;
}
