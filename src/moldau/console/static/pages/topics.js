import { ago, api, apiPath, at, Badge, bytes, cluster, count, Empty, Failure, go, html, later, Loading, may, numbers, query, rate, time, Title, useEffect, useLoad, useMemo, useState, useStream, visible, withQuery } from "../lib.js";
import { Filter, sorted, Table } from "../table.js";

const Create = later(() => import("./admin/topic_create.js"), "Create");

export function Topics() {
  const { data, error, reload } = useLoad((abort) => api(apiPath("topics"), { signal: abort }), [cluster.value]);
  const [isCreating, setIsCreating] = useState(false);
  useStream({ topics: 1 });
  const wanted = query.value.get("q") || "", internal = query.value.get("internal") === "1";
  const rows = useMemo(() => (data?.topics || []).filter((each) =>
    (internal || !each.is_internal) && each.name.toLowerCase().includes(wanted.toLowerCase())), [data, wanted, internal]);
  const found = numbers.value.topics;
  // The stream knows of topics that came or went: the list is asked for again.
  const alive = useMemo(() => Object.values(found).filter(Boolean).length, [found]);
  useEffect(() => { if (data && alive && alive !== data.topics.length) reload(); }, [alive]);
  const columns = [
    { name: "Topic", key: "name", by: (row) => row.name, show: (row) => html`<a href=${at("topics", row.name)} title=${visible(row.name)}>${visible(row.name)}</a>
      ${row.is_internal && html` <${Badge} kind="plain">internal<//>`}
      ${row.error && html` <${Badge} kind="bad">${row.error.includes("AUTHORIZATION") ? "not authorised" : row.error}<//>`}
      ${row.offline > 0 && html` <${Badge} kind="bad">${row.offline} offline<//>`}
      ${row.behind > 0 && html` <${Badge} kind="warn">${row.behind} behind<//>`}` },
    { name: "Partitions", key: "partitions", by: (row) => row.partitions, kind: "number", show: (row) => count(row.partitions) },
    { name: "Replicas", key: "replicas", by: (row) => row.replicas, kind: "number", show: (row) => count(row.replicas) },
    { name: "Records", key: "records", by: (row) => found[row.name]?.[0], kind: "number", show: (row) => count(found[row.name]?.[0]) },
    { name: "Records/s", key: "rate", by: (row) => found[row.name]?.[1], kind: "number", show: (row) => rate(found[row.name]?.[1]) },
    { name: "Size", key: "size", by: (row) => found[row.name]?.[2], kind: "number", show: (row) => bytes(found[row.name]?.[2]) },
    { name: "Last write", key: "written", by: (row) => found[row.name]?.[4], kind: "number", show: (row) => { const at = found[row.name]?.[4]; return at === undefined || at === null ? "–" : html`<span title=${time(at)}>${ago(at, numbers.value.at)}</span>`; } },
  ];
  const sort = query.value.get("sort") || "";
  const shown = useMemo(() => sorted(rows, columns, sort), [rows, sort, numbers.value.at]);
  return html`
    <${Title} actions=${may("admin") && html`<button class="primary" onClick=${() => setIsCreating(true)}>Create a topic</button>`}>Topics<//>
    <${Failure} error=${error} retry=${reload} />
    ${!data ? !error && html`<${Loading} />` : html`
      <div class="bar">
        <${Filter} label="Filter topics" value=${wanted} onInput=${(text) => go(withQuery({ q: text }), { replace: true })} />
        <label><input type="checkbox" checked=${internal} onChange=${(event) => go(withQuery({ internal: event.target.checked ? 1 : "" }), { replace: true })} /> Internal topics</label>
        <span class="quiet" role="status">${count(rows.length)} of ${count(data.topics.length)}</span>
      </div>
      ${rows.length === 0
        ? html`<${Empty} title=${data.topics.length ? "No topic matches" : "No topics yet"}><p>${data.topics.length
            ? "Clear the filter, or show internal topics." : "Create one, or let a producer do it by writing."}</p><//>`
        : html`<${Table} label="Topics" columns=${columns} rows=${shown} sort=${sort} onSort=${(text) => go(withQuery({ sort: text }), { replace: true })} keyOf=${(row) => row.name} onOpen=${(row) => go(at("topics", row.name))} />`}`}
    ${isCreating && html`<${Create} example=${data?.topics.find((each) => !each.error)?.name} onClose=${() => setIsCreating(false)} />`}`;
}
