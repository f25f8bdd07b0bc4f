// The view of the server's health: plots the last hour, follows processes, shows the ends of logs.

import { ask, byId, fill, on, say } from "./page.js";
import { plot } from "./plot.js";

/** Milliseconds between two requests for the calls; processes come as events. */
const LOOK = 10_000;

async function into(element, part, asked) {
  try {
    fill(element, await ask(part, asked));
  } catch (error) {
    say(error.message, "wrong");
  }
}

const times = plot(byId("times"), [
  { name: "95th percentile", color: "--bar", unit: " ms" },
  { name: "median", color: "--quiet", unit: " ms", dash: [4, 3] },
]);
const calls = plot(byId("calls"), [
  { name: "calls", color: "--bar", bars: true },
  { name: "failed", color: "--wrong", bars: true },
]);

async function hour() {
  let told;
  try {
    told = await ask("hour");
  } catch (error) {
    say(error.message, "wrong");
    return;
  }
  times.set([told.at, told.p95_ms, told.p50_ms]);
  calls.set([told.at, told.calls, told.faults]);
  const all = told.calls.reduce((sum, one) => sum + one, 0);
  const failed = told.faults.reduce((sum, one) => sum + one, 0);
  const slowest = Math.max(0, ...told.p95_ms.filter((one) => one !== null));
  byId("plot-words").textContent = all
    ? `${all} calls, ${failed} failed; in the slowest minute 95 of 100 took at most ${slowest} ms.`
    : "No calls in the last hour.";
}

function log() {
  const of = byId("log-of");
  if (of) into(byId("log"), "log", { name: of.value });
}

if (byId("checks")) into(byId("checks"), "checks");
byId("log-of")?.addEventListener("change", log);
byId("log-again")?.addEventListener("click", log);
log();
hour();
setInterval(() => {
  if (document.hidden) return;
  hour();
  into(byId("now"), "now");
}, LOOK);

let told = 0;
on("workers", () => {
  told += 1;
  if (told > 1) into(byId("now"), "now");
});
