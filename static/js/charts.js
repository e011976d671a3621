// [data-charts]: calls, errors and times taken as lines over time. A table beside them says the same.
import uPlot from "../vendor/uPlot.esm.js";

const EVERY_MS = 30_000;
const HEIGHT = 190;
let drawn = [];

/** A colour of the theme as a canvas takes it. */
function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function short(value) {
  if (value === null || value === undefined) return "–";
  return value >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** A tick of the time axis: the hour, at midnight the day. */
function hour(seconds) {
  const at = new Date(seconds * 1000);
  return at.getHours() || at.getMinutes() ? clock.format(at) : day.format(at);
}

// Steps of what is counted: there is no half of a call.
const WHOLE = [...Array(10).keys()].flatMap((zeros) => [1, 2, 5].map((digit) => digit * 10 ** zeros));

/** Beside no pointer the legend tells the newest values. */
function newest(chart) {
  if ((chart.legend.idx ?? null) === null && chart.data[0].length) chart.setLegend({ idx: chart.data[0].length - 1 }, false);
}

function options(width, lines, incrs) {
  const grid = { stroke: colour("--tblr-border-color"), width: 1 };
  const axis = { stroke: colour("--tblr-secondary"), grid, ticks: grid, font: "12px sans-serif" };
  return {
    width,
    height: HEIGHT,
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, most ? most * 1.1 : 1] } },
    axes: [{ ...axis, space: 70, values: (_, ticks) => ticks.map(hour) }, { ...axis, size: 48, ...(incrs && { incrs }), values: (_, ticks) => ticks.map(short) }],
    hooks: { ready: [newest], setLegend: [newest] },
    series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...lines],
  };
}

const line = (label, name, { fill = false, dots = false } = {}) => ({
  label, stroke: colour(name), width: 1.5, fill: fill && `color-mix(in srgb, ${colour(name)} 12%, transparent)`,
  spanGaps: true, points: { show: dots, size: 4 }, value: (_, value) => short(value),
});

function draw() {
  for (const { chart, watch } of drawn) {
    watch.disconnect();
    chart.destroy();
  }
  drawn = [];
  const source = document.getElementById("chart-points");
  if (!source) return;
  const points = JSON.parse(source.textContent);
  const plots = {
    calls: [[points.at, points.calls, points.errors], () => [line("Calls", "--th-busy", { fill: true }), line("Errors", "--th-bad")], WHOLE],
    times: [[points.at, points.p50_ms, points.p95_ms], () => [line("p50", "--th-busy", { dots: true }), line("p95", "--th-warn", { dots: true })]],
  };
  for (const place of document.querySelectorAll("[data-chart]")) {
    const [data, lines, steps] = plots[place.dataset.chart];
    const chart = new uPlot(options(place.clientWidth, lines(), steps), data, place);
    const watch = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    drawn.push({ chart, watch });
  }
}

function refresh() {
  const card = document.querySelector("[data-charts]");
  if (document.hidden || !card || card.querySelector("details[open]") || card.matches(":hover, :focus-within")) return;
  const url = new URL(card.querySelector("[aria-current]").href);
  window.htmx.ajax("GET", url.pathname + url.search, { target: "#charts", swap: "innerHTML" });
}

draw();
document.addEventListener("htmx:afterSwap", (event) => event.detail.target.id === "charts" && draw());
new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-bs-theme"] });
setInterval(refresh, EVERY_MS);
