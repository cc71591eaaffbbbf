// A line over time, or bars, by uPlot, which is loaded with the first chart.
import { html, isUtc, useEffect, useRef } from "./lib.js";

let loading = null;
function uPlot() {
  loading ??= new Promise((resolve, reject) => {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = "/static/vendor/uPlot.min.css";
    const script = document.createElement("script");
    script.src = "/static/vendor/uPlot.iife.min.js";
    script.onload = () => resolve(window.uPlot);
    script.onerror = () => reject(new Error("uPlot did not load"));
    document.head.append(style, script);
  });
  return loading;
}

// uPlot itself would give a lone point a thousand days.
function lastMinuteAtLeast({ data: [times] }) {
  const end = times[times.length - 1] ?? Date.now() / 1000;
  return [Math.min(times[0] ?? end, end - 60), end];
}

const clock = (seconds) => (isUtc.value ? new Date(seconds * 1000).toISOString().slice(11, 19) : new Date(seconds * 1000).toTimeString().slice(0, 8));

// `points` are pairs of milliseconds and a number.
export function Chart({ points, label }) {
  const place = useRef();
  const plot = useRef();
  const data = [points.map(([at]) => at / 1000), points.map(([, value]) => value)];
  const isBegun = points.length > 0;
  useEffect(() => {
    if (!isBegun) return undefined;
    let isGone = false;
    uPlot().then((Plot) => {
      if (isGone || !place.current) return;
      const style = getComputedStyle(document.documentElement);
      const color = (name) => style.getPropertyValue(name).trim();
      const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line") } };
      plot.current = new Plot({
        width: place.current.clientWidth, height: 170, legend: { show: false }, cursor: { y: false },
        series: [{}, { label, stroke: color("--accent"), fill: color("--accent-soft"), width: 2, points: { show: (self) => self.data[0].length < 2 } }],
        scales: { x: { range: lastMinuteAtLeast }, y: { range: (_, low, high) => [0, Math.max(high * 1.1, 1)] } },
        axes: [{ ...axis, values: (_, ticks) => ticks.map(clock), space: 80 }, { ...axis, size: 60, values: (_, ticks) => ticks.map((each) => each >= 1e6 ? `${each / 1e6}M` : each >= 1e3 ? `${each / 1e3}k` : each) }],
      }, data, place.current);
    }).catch(() => {});
    const resize = new ResizeObserver(() => place.current && plot.current?.setSize({ width: place.current.clientWidth, height: 170 }));
    resize.observe(place.current);
    return () => { isGone = true; resize.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, [document.documentElement.dataset.theme, isUtc.value, isBegun]);
  useEffect(() => { plot.current?.setData(data); }, [points.length, points[points.length - 1]?.[0]]);
  const last = points.length ? points[points.length - 1][1] : null;
  return html`<figure class="chart"><figcaption>${label}${isBegun ? "" : ". The first number comes in a few seconds."}</figcaption>
    <div ref=${place} role="img" aria-label=${`${label}: ${last ?? "no points yet"}`}></div></figure>`;
}

const short = (ticks) => ticks.map((each) => (each >= 1e6 ? `${each / 1e6}M` : each >= 1e3 ? `${each / 1e3}k` : each));

// A bar for each label.
export function Bars({ labels, values, label }) {
  const place = useRef();
  useEffect(() => {
    let plot = null, isGone = false;
    uPlot().then((Plot) => {
      if (isGone || !place.current) return;
      const style = getComputedStyle(document.documentElement);
      const color = (name) => style.getPropertyValue(name).trim();
      const axis = { stroke: color("--quiet"), grid: { show: false }, ticks: { stroke: color("--line") } };
      const name = (at) => { const text = Number.isInteger(at) ? labels[at] ?? "" : ""; return text.length > 14 ? text.slice(0, 13) + "…" : text; };
      plot = new Plot({
        width: place.current.clientWidth, height: 200, legend: { show: false }, cursor: { show: false },
        scales: { x: { time: false, range: [-0.6, labels.length - 0.4] }, y: { range: (_, low, high) => [Math.min(low, 0), Math.max(high * 1.1, 0.001)] } },
        series: [{}, { label, stroke: color("--accent"), fill: color("--accent-soft"), paths: Plot.paths.bars({ size: [0.7, 60] }), points: { show: false } }],
        axes: [{ ...axis, space: 100, incrs: [1, 2, 5, 10, 20, 50], values: (_, ticks) => ticks.map(name) }, { ...axis, grid: { stroke: color("--line"), width: 1 }, size: 60, values: (_, ticks) => short(ticks) }],
      }, [labels.map((_, at) => at), values], place.current);
    }).catch(() => {});
    const resize = new ResizeObserver(() => place.current && plot?.setSize({ width: place.current.clientWidth, height: 200 }));
    resize.observe(place.current);
    return () => { isGone = true; resize.disconnect(); plot?.destroy(); };
  }, [labels.join("\n"), values.join(), document.documentElement.dataset.theme]);
  return html`<figure class="chart"><figcaption>${label}</figcaption>
    <div ref=${place} role="img" aria-label=${`${label}: ${labels.length} bars; the table has the numbers`}></div></figure>`;
}
