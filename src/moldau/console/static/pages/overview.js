import { api, apiPath, at, Badge, bytes, cluster, Command, count, Empty, Failure, html, Loading, numbers, rate, Title, useEffect, useLoad, useState, useStream, visible } from "../lib.js";
import { Chart } from "../chart.js";

const GROWTH = "Bytes are what logs grow by, asked of brokers about every ten seconds: after compression, one replica of each partition, less where old records were removed meanwhile.";

export function Overview() {
  const { data, error, reload } = useLoad((abort) => api(apiPath(), { signal: abort }), [cluster.value]);
  const [points, setPoints] = useState([]);
  const [sizes, setSizes] = useState([]);
  useStream({});
  useEffect(() => { if (data) { setPoints(data.history); setSizes(data.bytes_history); } }, [data]);
  const now = numbers.value;
  useEffect(() => {
    if (now.at && now.rate !== undefined) setPoints((old) => [...old.slice(-1799), [now.at, now.rate]]);
  }, [now.at]);
  useEffect(() => {
    if (now.bytes_in) setSizes((old) => (old.length && old[old.length - 1][0] >= now.bytes_in[0] ? old : [...old.slice(-359), now.bytes_in]));
  }, [now.bytes_in?.[0]]);
  if (!data) return error ? html`<${Title}>${cluster.value}<//><${Failure} error=${error} retry=${reload} />` : html`<${Loading} />`;
  return html`
    <${Title}>${cluster.value}<//>
    <${Failure} error=${error} retry=${reload} />
    <${Health} troubles=${data.troubles} />
    <dl class="cards many">
      <div><dt>Brokers</dt><dd><a href=${at("brokers")}>${data.brokers.length}</a></dd></div>
      <div><dt>Topics</dt><dd><a href=${at("topics")}>${count(data.topics)}</a></dd></div>
      <div><dt>Partitions</dt><dd>${count(data.partitions)}</dd></div>
      <div><dt>Records</dt><dd>${count(now.records)}</dd></div>
      <div><dt>On disk</dt><dd>${bytes(now.bytes)}</dd></div>
      <div><dt>Records/s in</dt><dd>${rate(now.rate)}</dd></div>
      <div title=${GROWTH}><dt>Bytes/s in</dt><dd>${now.bytes_in ? bytes(Math.round(now.bytes_in[1])) : "–"}</dd></div>
    </dl>
    ${data.topics === 0 && html`<${Empty} title="No topics yet">
      <p>Write the first record, or create a topic on the <a href=${at("topics")}>Topics</a> page.</p>
      <${Command} text="moldau topics --create --topic orders --bootstrap-server localhost:9092" /><//>`}
    <${Chart} points=${points} label="Records per second into the cluster" />
    ${sizes.length > 0 && html`<${Chart} points=${sizes} label="Bytes per second into the cluster, as logs grow" />
      <p class="quiet">${GROWTH} Clients see no bytes that are read.</p>`}
    <${Findings} />
    <${Versions} />
    <p class="quiet">Cluster ${visible(data.cluster_id)}; controller: broker ${data.controller}${data.unauthorized
      ? `; ${data.unauthorized} topics are not shown to these credentials` : ""}</p>`;
}

function Versions() {
  const { data } = useLoad((abort) => api(apiPath("versions"), { signal: abort }), [cluster.value]);
  if (!data) return null;
  const releases = [...new Set(data.brokers.map((each) => each.release).filter(Boolean))];
  const protocols = [...new Set(data.brokers.map((each) => each.protocol).filter(Boolean))];
  const metadata = data.features.find((each) => each.name === "metadata.version")?.finalized?.[1];
  const agreed = metadata ? `metadata version ${metadata}` : protocols.length ? `inter.broker.protocol.version ${protocols.join(" and ")}` : "";
  return releases.length > 0 && html`<p class="quiet">Brokers are like Kafka ${releases.map(visible).join(" and ")}${agreed && `; ${visible(agreed)}`}. <a href=${at("brokers")}>Brokers</a></p>`;
}

const Health = ({ troubles }) => troubles.length === 0
  ? html`<p class="notice good" role="status"><strong>✓ Healthy.</strong> Every partition has a leader and all its replicas are in sync.</p>`
  : html`${troubles.map((each) => html`<div class="notice bad" role="alert">
      <strong>✗ ${count(each.count)} ${each.kind} partitions.</strong> ${each.partitions.map(visible).join(", ")}${each.count > each.partitions.length ? ", …" : ""}
      <p>${each.kind === "offline"
        ? "They can be neither read nor written. All brokers with a replica are down: start one of them."
        : "A broker with a replica is down, or does not keep up. See which on the Brokers page."} <a href=${at("why", "partitions")}>Why, and what mends it</a></p>
    </div>`)}`;

function Findings() {
  const { data, error } = useLoad((abort) => api(apiPath("findings"), { signal: abort }), [cluster.value]);
  if (error) return html`<${Failure} error=${error} />`;
  return html`<section aria-labelledby="findings"><h2 id="findings">What a client sees</h2>
    ${!data ? html`<${Loading} />` : html`<ul class="findings">${data.findings.map((each) => html`
      <li>${each.is_well ? html`<${Badge} kind="good">✓ ok<//>` : html`<${Badge} kind="bad">✗ wrong<//>`}
        <span>${visible(each.text)}${each.advice && html`<br /><span class="quiet">${visible(each.advice)}</span>`}</span></li>`)}
    </ul>`}
  </section>`;
}
