// The view of files: chooses lines by mouse, keys and address, and asks about their names and changes.

import { address, ask, byId, fill, later, say } from "./page.js";
import { chosen, follow } from "./editor.js";

const HASH = /^#L(\d+)(?:-L?(\d+))?$/;
/** Classes of pieces that are no names: words of the language, texts, comments, numbers. */
const PLAIN = /^(k|s|c|m|il|dl|ow|o$|p$)/;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
/** Lines after which a commit is named again beside its lines. */
const REPEATED = 20;
/** Milliseconds until the last change is asked for: arrows pass many lines. */
const WAIT = 200;

const code = byId("code");
const narrow = matchMedia("(max-width: 1099px)");
if (narrow.matches && code) document.querySelector(".tree-sheet").open = false;

const row = (number) => byId(`L${number}`);

/** First and last chosen line of the address; null for none. */
function range() {
  const match = HASH.exec(location.hash);
  if (!match) return null;
  const [a, b] = [Number(match[1]), Number(match[2] ?? match[1])];
  return [Math.min(a, b), Math.max(a, b)];
}

const hashOf = (first, last) => (first === last ? `#L${first}` : `#L${first}-L${last}`);

/** The names in a row, each once, without the language's words. */
function namesOf(line) {
  const names = new Set();
  for (const piece of line.querySelector(".line").childNodes) {
    if (PLAIN.test(piece.className ?? "")) continue;
    for (const [name] of piece.textContent.matchAll(NAME)) names.add(name);
  }
  return [...names];
}

let asking = new AbortController();

/** Show the definitions and uses of a name on a line. */
async function about(name, number) {
  asking.abort();
  const own = (asking = new AbortController());
  for (const button of byId("names").children) button.setAttribute("aria-pressed", button.textContent === name);
  try {
    const found = await ask("symbol", { path: code.dataset.path, line: number, name }, { signal: own.signal });
    fill(byId("symbol"), found);
    say("");
    if (narrow.matches) byId("symbol").scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (!own.signal.aborted) say(error.message, "wrong");
  }
}

const askChange = later(async (first, last) => {
  try {
    const { changed } = await ask("line", { path: code.dataset.path, first, last });
    const now = range();
    if (now && now[0] === first && now[1] === last) byId("changed").textContent = changed && `Last change: ${changed}`;
  } catch { /* the lines are there without it */ }
}, WAIT);

/** Mark the lines of the address, and tell about them. */
function showLines(scroll) {
  const now = range();
  for (const old of code.querySelectorAll("tr.chosen")) old.classList.remove("chosen");
  byId("changed").textContent = "";
  if (!now) return;
  const [first, last] = now;
  if (!row(first)) { // on another page of a long file
    const from = Math.floor((first - 1) / Number(code.dataset.page)) * Number(code.dataset.page) + 1;
    if (from !== Number(code.dataset.first)) location.replace(`${address("/files", { path: code.dataset.path, from })}${location.hash}`);
    return;
  }
  const names = new Set();
  for (let number = first; number <= last && row(number); number += 1) {
    row(number).classList.add("chosen");
    for (const name of namesOf(row(number))) names.add(JSON.stringify([name, names.has(name) ? 0 : number]));
  }
  byId("chosen-title").textContent = first === last ? `Line ${first}` : `Lines ${first} to ${last}`;
  byId("line-hint").hidden = true;
  document.querySelector(".line-tools").hidden = false;
  byId("open-line").dataset.line = first;
  byId("open-line").href = hashOf(first, last);
  const seen = new Set();
  byId("names").replaceChildren(...[...names].map((text) => JSON.parse(text)).filter(([name]) => !seen.has(name) && seen.add(name))
    .map(([name, number]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => about(name, number));
      return button;
    }));
  askChange(first, last);
  if (scroll) row(first).scrollIntoView({ block: "center" });
}

/** Choose lines without a new entry in the history. */
function choose(first, last) {
  history.replaceState(null, "", hashOf(first, last));
  showLines(false);
}

/** The name under the pointer, "" for none. */
function nameAt(event) {
  const at = document.caretPositionFromPoint
    ? document.caretPositionFromPoint(event.clientX, event.clientY)
    : document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const node = at?.offsetNode ?? at?.startContainer;
  const offset = at?.offset ?? at?.startOffset;
  if (node?.nodeType !== Node.TEXT_NODE || PLAIN.test(node.parentElement.className)) return "";
  for (const match of node.textContent.matchAll(NAME)) {
    if (match.index <= offset && offset <= match.index + match[0].length) return match[0];
  }
  return "";
}

if (code) {
  code.addEventListener("click", (event) => {
    const line = event.target.closest("tr");
    if (!line || event.ctrlKey || event.metaKey) return;
    const number = Number(line.id.slice(1));
    const now = range();
    if (event.target.closest(".no a")) {
      event.preventDefault();
      const [first, last] = event.shiftKey && now ? [Math.min(now[0], number), Math.max(now[0], number)] : [number, number];
      if (location.hash !== hashOf(first, last)) history.pushState(null, "", hashOf(first, last));
      showLines(false);
      code.focus({ preventScroll: true });
      return;
    }
    const name = getSelection().isCollapsed ? nameAt(event) : "";
    if (!name) return;
    if (!now || number < now[0] || number > now[1]) choose(number, number);
    about(name, number);
  });
  code.addEventListener("keydown", (event) => {
    const now = range();
    const first = Number(code.dataset.first);
    if (event.key === "Enter" && now) {
      event.preventDefault();
      byId("names").querySelector("button")?.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const step = event.key === "ArrowDown" ? 1 : -1;
    const from = now ? (step > 0 ? now[1] : event.shiftKey ? now[1] : now[0]) : first - 1;
    const next = from + step;
    if (!row(next)) return;
    if (event.shiftKey && now && next >= now[0]) choose(now[0], next);
    else choose(next, next);
    row(event.shiftKey ? next : range()[0]).scrollIntoView({ block: "nearest" });
  });
  byId("blame").addEventListener("click", async ({ currentTarget: button }) => {
    const shown = button.getAttribute("aria-pressed") === "true";
    for (const cell of code.querySelectorAll(".blame")) cell.remove();
    button.setAttribute("aria-pressed", !shown);
    if (shown) return;
    const { runs } = await ask("blame", { path: code.dataset.path, first: Number(code.dataset.first) }).catch((error) => {
      say(error.message, "wrong");
      return { runs: [] };
    });
    if (!runs.length) say("Git does not tell who changed this file.");
    for (const [first, last, commit] of runs) {
      for (let number = first; number <= last; number += 1) {
        const cell = document.createElement("td");
        cell.className = "blame";
        cell.textContent = (number - first) % REPEATED ? "" : commit;
        cell.title = commit;
        row(number)?.prepend(cell);
      }
    }
  });
  addEventListener("hashchange", () => showLines(true));
  addEventListener("popstate", () => showLines(true));
  byId("copy-link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("Copied the link.");
    } catch {
      say(location.href);
    }
    setTimeout(() => say(""), 3000);
  });
  chosen(byId("editor"));
  follow(byId("chosen"), byId("open-line").dataset.root, byId("editor"));
  showLines(true);
  ask("outline", { path: code.dataset.path }).then((found) => fill(byId("outline"), found), (error) => {
    byId("outline").firstElementChild.textContent = error.message;
  });
}
