import { api, apiPath, at, Badge, cluster, Command, count, Empty, Failure, go, html, Loading, Missing, numbers, query, Title, useEffect, useLoad, useMemo, useStream, visible, withQuery } from "../lib.js";
import { Filter, sorted, Table } from "../table.js";

export const STATES = { Stable: "good", Empty: "plain", Dead: "bad", PreparingRebalance: "warn", CompletingRebalance: "warn", Assigning: "warn", Reconciling: "warn" };

const TYPES = ["classic", "consumer", "share"];

export function Groups() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("groups"), { signal: abort }), [cluster.value]);
  useStream({ groups: 1 });
  const wanted = query.value.get("q") || "", type = query.value.get("type") || "";
  const rows = useMemo(() => (data?.groups || []).filter((each) => each.group.toLowerCase().includes(wanted.toLowerCase()) && (!type || each.type === type)), [data, wanted, type]);
  const lags = numbers.value.groups, seen = Object.values(lags).filter(Boolean).length;
  useEffect(() => { if (data && seen > data.groups.length) reload(); }, [seen]);
  const columns = [
    { name: "Group", key: "name", by: (row) => row.group, show: (row) => html`<a href=${at("groups", row.group)} title=${visible(row.group)}>${visible(row.group) || "(empty name)"}</a>` },
    { name: "State", key: "state", by: (row) => row.state, show: (row) => html`<${Badge} kind=${STATES[row.state] || "plain"}>${row.state || "unknown"}<//>` },
    { name: "Protocol", show: (row) => visible(row.type || row.protocol) },
    { name: "Coordinator", kind: "number", show: (row) => row.coordinator },
    { name: "Lag", key: "lag", by: (row) => (row.type === "share" ? null : lags[row.group]?.lag), kind: "number", show: (row) => { const lag = lags[row.group]; return !lag || row.type === "share" ? "–" : lag.error ? lag.error : (lag.is_partial ? "≥ " : "") + count(lag.lag); } },
  ];
  const sort = query.value.get("sort") || "";
  const shown = useMemo(() => sorted(rows, columns, sort), [rows, sort, numbers.value.at]);
  return html`<${Title}>Groups<//><${Failure} error=${error} retry=${reload} />
    <${Missing} brokers=${data?.missing} what="groups" />
    ${!data ? !error && html`<${Loading} />` : !data.groups.length ? html`<${Empty} title="No groups yet">
        <p>A consumer with a group id appears here.</p>
        <${Command} text="moldau console-consumer --topic orders --group first --bootstrap-server localhost:9092" /><//>` : html`
      <div class="bar"><${Filter} label="Filter groups" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
        <label class="filter">Type <select onChange=${(event) => go(withQuery({ type: event.target.value }), { replace: true })}>
          ${["", ...new Set([...TYPES, ...data.groups.map((each) => each.type).filter(Boolean), ...(type ? [type] : [])])].map((each) => html`<option value=${each} selected=${each === type}>${visible(each) || "any"}</option>`)}</select></label>
        <span class="quiet" role="status">${count(rows.length)} of ${count(data.groups.length)}</span></div>
      ${type === "share" && !data.has_share && html`<p class="notice" role="status"><strong>This cluster has no share groups.</strong> They came with Kafka 4, whose feature <code>share.version</code> is not on here.</p>`}
      ${rows.length ? html`<${Table} label="Groups" columns=${columns} rows=${shown} sort=${sort} onSort=${(text) => go(withQuery({ sort: text }), { replace: true })} keyOf=${(row) => row.group} onOpen=${(row) => go(at("groups", row.group))} />`
        : html`<${Empty} title="No group matches"><p>Clear the filter.</p><//>`}`}`;
}
