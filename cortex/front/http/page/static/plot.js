// Plots over time with uPlot, in the page's colours, as wide as their place.

import uPlot from "./vendor/uPlot.esm.js";

/** Pixels of a plot's height. */
const HEIGHT = 150;

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const clock = (seconds) =>
  new Date(1000 * seconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

/** A plot in `element` of `series`: {name, color (a custom property), unit, bars, dash}. `set` gives
 *  it its columns, the first of which are seconds since 1970. It is drawn again when its place or
 *  the colours change. */
export function plot(element, series) {
  let drawn = null;
  let columns = null;

  function options() {
    const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 0.5 }, ticks: { show: false }, font: "11px system-ui" };
    return {
      width: Math.max(200, element.clientWidth),
      height: HEIGHT,
      cursor: { y: false, points: { size: 5 } },
      legend: { show: false },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
      axes: [{ ...axis, size: 26, values: (_plot, times) => times.map(clock) }, { ...axis, size: 44 }],
      series: [
        {},
        ...series.map((one) => ({
          label: one.name,
          stroke: color(one.color),
          width: 1.5,
          dash: one.dash,
          fill: one.bars ? color(one.color) : undefined,
          paths: one.bars ? uPlot.paths.bars({ size: [0.8, 12] }) : undefined,
          points: { show: !one.bars, size: 4 },
          spanGaps: false,
        })),
      ],
    };
  }

  function draw() {
    if (!columns) return;
    drawn?.destroy();
    drawn = new uPlot(options(), columns, element);
    drawn.root.setAttribute("aria-hidden", "true"); // what it says stands beside it in words
  }

  let width = element.clientWidth;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  return {
    set(given) {
      columns = given;
      draw();
    },
  };
}
