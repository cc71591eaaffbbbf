import { api, apiPath, at, Badge, cluster, Command, console_, count, Dialog, Empty, Failure, html, later, Loading, may, numbers, quoted, rate, Title, useEffect, useLoad, useRef, useState, useStream, visible } from "../lib.js";
import { Table } from "../table.js";
import { Chart } from "../chart.js";
import { STATES } from "./groups.js";
import { Delete } from "./topic.js";

const Forget = later(() => import("./admin/group_actions.js"), "Forget");
const SendAway = later(() => import("./admin/group_actions.js"), "SendAway");

export function Group({ id }) {
  const { data, error, reload } = useLoad((abort) => api(apiPath("groups", id), { signal: abort }), [id]);
  const [points, setPoints] = useState([]);
  const [dialog, setDialog] = useState(null);
  useStream({ group: id });
  useEffect(() => { if (data) setPoints(data.history); }, [data]);
  const now = numbers.value, live = now.groups[id];
  // Members come and go: they are asked for again now and then.
  const loaded = useRef(Date.now());
  useEffect(() => { if (Date.now() - loaded.current > 8000) { loaded.current = Date.now(); reload(); } }, [now.at]);
  useEffect(() => { if (live && now.at) setPoints((old) => [...old.slice(-899), [now.at, live.lag]]); }, [now.at]);
  const crumbs = [["Groups", at("groups")]];
  if (!data) return html`<${Title} crumbs=${crumbs}>${visible(id)}<//>${error ? html`<${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`}`;
  if (data.type === "share") return html`<${Share} id=${id} data=${data} crumbs=${crumbs} />`;
  const offsets = live?.offsets
    ? live.offsets.map(([topic, partition, committed, end, lag]) => ({ topic, partition, committed, end, lag })) : data.offsets;
  const pace = usePace(live?.offsets, now.at);
  const lag = live ? live.lag : data.lag, speed = closing(points);
  const columns = [
    { name: "Topic", show: (row) => html`<a href=${at("topics", row.topic)}>${visible(row.topic)}</a>` },
    { name: "Partition", kind: "number", show: (row) => row.partition },
    { name: "Committed", kind: "number", show: (row) => count(row.committed) },
    { name: "End", kind: "number", show: (row) => row.end === null ? "unknown" : count(row.end) },
    { name: "Lag", kind: "number", show: (row) => row.lag === null ? html`<${Badge} kind="warn">unknown<//>` : count(row.lag) },
    { name: "Read/s", kind: "number", show: (row) => { const found = pace(row); return found ? rate(found.read) : "–"; } },
    { name: "Time to zero", kind: "number", show: (row) => toZero(row.lag, pace(row)?.closing ?? null) },
  ];
  const members = [
    { name: "Client", show: (row) => visible(row.client) },
    { name: "Host", show: (row) => visible(row.host) },
    { name: "Member", kind: "code", show: (row) => visible(row.instance || row.member) },
    { name: "Partitions", show: (row) => row.partitions.map(visible).join(", ") || html`<span class="quiet">none</span>` },
    ...(may("operator") ? [{ name: "", show: (row) => html`<button class="small danger" onClick=${() => setDialog({ member: row })}>Send away…</button>` }] : []),
  ];
  return html`
    <${Title} crumbs=${crumbs} actions=${html`
      ${may("operator") && html`<button onClick=${() => setDialog("reset")}>Reset offsets…</button>${offsets.length > 0 && html`<button onClick=${() => setDialog("forget")}>Forget a topic…</button>`}`}
      ${may("admin") && html`<button class="danger" onClick=${() => setDialog("delete")}>Delete…</button>`}`}>${visible(id)}<//>
    <${Failure} error=${error} retry=${reload} />
    <dl class="cards">
      <div><dt>State</dt><dd><${Badge} kind=${STATES[data.state] || "plain"}>${data.state}<//></dd></div>
      <div><dt>Lag</dt><dd>${(live || data).is_partial ? "≥ " : ""}${count(lag)}</dd></div>
      <div><dt>Closing by</dt><dd>${speed === null ? "–" : `${rate(speed)}/s`}</dd></div>
      <div><dt>Time to zero</dt><dd>${toZero(lag, speed)}</dd></div>
      <div><dt>Members</dt><dd>${data.members.length}</dd></div>
      <div><dt>Protocol</dt><dd>${visible(data.type)}${data.assignor ? `, ${visible(data.assignor)}` : ""}</dd></div>
    </dl>
    ${lag > 0 && html`<p><a href=${at("why", "group", id)}>Why is it behind?</a></p>`}
    <${Chart} points=${points} label="Lag in records" />
    <h2>Offsets</h2>
    ${offsets.length ? html`<${Table} label="Offsets" columns=${columns} rows=${offsets} keyOf=${(row) => `${row.topic}-${row.partition}`} />`
      : html`<${Empty} title="No offsets yet"><p>The group has committed nothing so far.</p><//>`}
    <h2>Members</h2>
    ${data.members.length ? html`<${Table} label="Members" columns=${members} rows=${data.members} keyOf=${(row) => row.member} />`
      : html`<${Empty} title="No members"><p>Nobody reads for this group now. Its offsets can be reset.</p><//>`}
    ${dialog === "reset" && html`<${Reset} id=${id} topics=${[...new Set(offsets.map((each) => each.topic))]} onClose=${() => setDialog(null)} onDone=${() => { setDialog(null); reload(); }} />`}
    ${dialog === "forget" && html`<${Forget} id=${id} topics=${[...new Set(offsets.map((each) => each.topic))]} onClose=${() => setDialog(null)} onDone=${reload} />`}
    ${dialog?.member && html`<${SendAway} id=${id} member=${dialog.member} onClose=${() => setDialog(null)} onDone=${reload} />`}
    ${dialog === "delete" && html`<${Delete} what="group" name=${id} path=${apiPath("groups", id)} after=${at("groups")} onClose=${() => setDialog(null)}><p>Its offsets go with it.</p><//>`}`;
}

// Its members share partitions, and brokers keep which records are taken: there is no lag by offsets.
function Share({ id, data, crumbs }) {
  const servers = console_.value.servers[cluster.value] || "localhost:9092";
  const command = `kafka-share-groups.sh --bootstrap-server ${quoted(servers)} --describe --group ${quoted(visible(id))}`;
  return html`<${Title} crumbs=${crumbs}>${visible(id)}<//>
    <dl class="cards">
      <div><dt>State</dt><dd><${Badge} kind=${STATES[data.state] || "plain"}>${data.state}<//></dd></div>
      <div><dt>Protocol</dt><dd>share</dd></div>
      <div><dt>Coordinator</dt><dd>${data.coordinator}</dd></div>
    </dl>
    <p class="notice"><strong>A share group.</strong> Its members read the same partitions, and brokers keep which records are taken. The console lists it, and does not change it. These show its offsets and its members:</p>
    <${Command} text=${command} /><${Command} text=${`${command} --members`} />`;
}

// How fast each partition is read, and its lag shrinks, over the samples that this page has seen.
function usePace(offsets, at) {
  const seen = useRef({});
  useEffect(() => {
    for (const [topic, partition, committed, , lag] of offsets || []) {
      const name = `${topic}-${partition}`, old = seen.current[name] || [];
      if (committed !== null && lag !== null && old[old.length - 1]?.[0] !== at) seen.current[name] = [...old.slice(-29), [at, lag, committed]];
    }
  }, [at]);
  return ({ topic, partition }) => {
    const points = seen.current[`${topic}-${partition}`] || [], speed = closing(points);
    if (speed === null) return null;
    const [first, last] = [points[0], points[points.length - 1]];
    return { closing: speed, read: Math.max((last[2] - first[2]) / ((last[0] - first[0]) / 1000), 0) };
  };
}

function closing(points) {
  const recent = points.slice(-30);
  if (recent.length < 2) return null;
  const [first, last] = [recent[0], recent[recent.length - 1]];
  return last[0] > first[0] ? (first[1] - last[1]) / ((last[0] - first[0]) / 1000) : null;
}

function toZero(lag, speed) {
  if (lag === 0) return "now";
  if (speed === null) return "–";
  if (speed <= 0) return "never, at this rate";
  const seconds = lag / speed;
  return seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

const TARGETS = [["earliest", "The first record"], ["latest", "The end"], ["time", "A time"], ["offset", "An offset"], ["shift", "Some records on or back"], ["duration", "So many milliseconds ago"]];

function Reset({ id, topics, onClose, onDone }) {
  const [to, setTo] = useState("earliest");
  const [value, setValue] = useState("");
  const [topic, setTopic] = useState("");
  const [plan, setPlan] = useState(null);
  const [error, setError] = useState(null);
  const show = async (event) => {
    event.preventDefault();
    setError(null);
    const given = to === "time" ? new Date(value).toISOString() : value;
    try { setPlan(await api(apiPath("groups", id, "plan"), { method: "POST", body: { to, value: given, topic: topic || null } })); }
    catch (failure) { setError(failure); }
  };
  const run = async () => {
    const offsets = plan.changes.map((each) => ({ topic: each.topic, partition: each.partition, offset: each.new }));
    try { await api(apiPath("groups", id, "offsets"), { method: "POST", body: { offsets } }); onDone(); }
    catch (failure) { setError(failure); }
  };
  const columns = [
    { name: "Topic", show: (row) => visible(row.topic) },
    { name: "Partition", kind: "number", show: (row) => row.partition },
    { name: "Now", kind: "number", show: (row) => row.old === null ? "none" : count(row.old) },
    { name: "Then", kind: "number", show: (row) => count(row.new) },
    { name: "Change", kind: "number", show: (row) => row.old === null ? "new" : (row.new > row.old ? "+" : "") + count(row.new - row.old) },
  ];
  return html`<${Dialog} title=${`Reset the offsets of ${visible(id)}`} onClose=${onClose}>
    <${Failure} error=${error} />
    <form onSubmit=${show}>
      <label>Go to <select value=${to} onChange=${(event) => { setTo(event.target.value); setPlan(null); setValue(""); }}>
        ${TARGETS.map(([name, text]) => html`<option value=${name}>${text}</option>`)}</select></label>
      ${to === "time" && html`<label>Time, in the zone of this browser <input type="datetime-local" step="1" required value=${value} onInput=${(event) => { setValue(event.target.value); setPlan(null); }} /></label>`}
      ${["offset", "shift", "duration"].includes(to) && html`<label>${to === "shift" ? "Records, negative for back" : to === "offset" ? "Offset" : "Milliseconds"}
        <input type="number" required value=${value} onInput=${(event) => { setValue(event.target.value); setPlan(null); }} /></label>`}
      <label>In <select value=${topic} onChange=${(event) => { setTopic(event.target.value); setPlan(null); }}>
        <option value="">all topics of the group</option>${topics.map((each) => html`<option value=${each}>${visible(each)}</option>`)}</select></label>
      <button class=${plan ? "" : "primary"}>Show the plan</button>
    </form>
    ${plan && html`
      <${Table} label="The plan" columns=${columns} rows=${plan.changes} keyOf=${(row) => `${row.topic}-${row.partition}`} />
      ${plan.is_possible ? html`<button class="primary" onClick=${run}>Set ${plan.changes.length} offsets</button>`
        : html`<p class="notice warn">The group is ${plan.state}: stop its members first, then show the plan again.</p>`}`}
  <//>`;
}
