// Memory: what changes a note, and takes a change back; the plot of trends. Everything else is links.

import { ask, byId, on, say } from "./page.js";

const DONE = "cortex-done";

/** Do it, and show the page as it is then, with what was done and how to take it back. */
async function change(asked, button, then) {
  if (button) button.disabled = true;
  try {
    const done = await ask("change", asked);
    sessionStorage.setItem(DONE, JSON.stringify(done));
    if (then) location.href = then;
    else location.reload();
  } catch (error) {
    say(error.message, "wrong");
    if (button) button.disabled = false;
  }
}

function showDone() {
  const told = sessionStorage.getItem(DONE);
  if (!told) return;
  sessionStorage.removeItem(DONE);
  const { message, undo } = JSON.parse(told);
  const done = byId("done");
  const button = byId("done-undo");
  byId("done-said").textContent = message;
  done.hidden = false;
  button.hidden = !undo;
  button.addEventListener("click", () => change({ what: "undo", operation: undo }, button));
  (undo ? button : done).focus({ preventScroll: true });
}

/** The fields of a form that are not as they were. */
function changed(form) {
  const asked = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    const before = field.tagName === "SELECT"
      ? [...field.options].find((one) => one.defaultSelected)?.value ?? field.options[0]?.value
      : field.defaultValue;
    if (field.value !== before) asked[field.name] = field.value;
  }
  return asked;
}

for (const form of document.querySelectorAll("form[data-change]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = changed(form);
    if (form.dataset.change === "edit" && !Object.keys(asked).length) {
      say("Nothing was changed.");
      return;
    }
    change({ ...asked, what: form.dataset.change, note: form.dataset.note }, event.submitter);
  });
}

for (const button of document.querySelectorAll("button[data-change]")) {
  const { change: what, then, ...asked } = button.dataset;
  button.addEventListener("click", () => change({ ...asked, what }, button, then));
}

// Two notes picked in the list are merged in their own view.
const picked = byId("picked");
const picks = [...document.querySelectorAll("input.pick")];
function showPicked() {
  const numbers = picks.filter((one) => one.checked).map((one) => one.value);
  for (const one of picks) one.disabled = numbers.length === 2 && !one.checked;
  picked.hidden = !numbers.length;
  picked.textContent = numbers.length === 1 ? `#${numbers[0]} is picked; pick a second note to merge it with.` : "";
  if (numbers.length !== 2) return;
  const link = document.createElement("a");
  link.href = `${picked.dataset.place}&merge=${numbers}`;
  link.textContent = `Merge #${numbers[0]} and #${numbers[1]} …`;
  picked.append(link);
}
for (const one of picks) one.addEventListener("change", showPicked);
if (picks.some((one) => one.checked)) showPicked(); // Back keeps them

function open(id, shown) {
  for (const button of document.querySelectorAll("[data-opens]")) {
    const form = byId(button.dataset.opens);
    const visible = button.dataset.opens === id && shown;
    form.hidden = !visible;
    button.setAttribute("aria-expanded", String(visible));
    if (visible) form.querySelector("input, textarea").focus();
    else if (button.dataset.opens === id) button.focus();
  }
}

for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", () => open(button.dataset.opens, byId(button.dataset.opens).hidden));
}
for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => open(button.dataset.closes, false));
}
document.addEventListener("keydown", (event) => {
  const form = event.key === "Escape" && event.target.closest("form.deed");
  if (form) open(form.id, false);
});

async function plot(place) {
  const { default: uPlot } = await import("./vendor/uPlot.esm.js");
  const { labels, counts } = JSON.parse(place.dataset.plot);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = () => ({ stroke: () => colour("--quiet"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false } });
  const size = () => ({ width: Math.max(200, place.clientWidth), height: 220 });
  const step = Math.max(1, Math.ceil(labels.length / Math.max(2, place.clientWidth / 90)));
  const drawn = new uPlot({
    ...size(),
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: { x: { time: false, range: [-0.5, labels.length - 0.5] }, y: { range: (_u, _least, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis(), size: 30, grid: { show: false }, splits: () => labels.map((_one, at) => at).filter((at) => at % step === 0),
        values: (_u, places) => places.map((at) => labels[at] ?? "") },
      { ...axis(), size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 100000] },
    ],
    series: [{}, { fill: () => colour("--bar"), stroke: () => colour("--bar"), width: 0,
      paths: uPlot.paths.bars({ size: [0.7, 60] }), points: { show: false } }],
    hooks: { setCursor: [(u) => {
      const at = u.cursor.idx;
      place.title = at == null ? "" : `${labels[at]}: ${counts[at]}`;
    }] },
  }, [labels.map((_one, at) => at), counts], place);
  new ResizeObserver(() => drawn.setSize(size())).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.redraw());
  place.dataset.state = "drawn";
}

showDone();
const place = byId("plot");
if (place) plot(place);

// The first event says how memory is; each further one that it is not as it is shown any more.
const later = byId("changed");
on("memory", () => {
  if (later.dataset.state === "followed") later.hidden = false;
  later.dataset.state = "followed";
});
