// The view that searches: asks while one types, drops what is late, completes filters, keeps a history.

import { ask, byId, fill, later, on, say } from "./page.js";
import { chosen, follow } from "./editor.js";

/** Milliseconds after the last key until it is asked. */
const WAIT = 100;
/** Milliseconds without a change after which a question is one to come back to. */
const SETTLED = 1000;

/** Milliseconds until a question is asked again while the workers start. */
const STARTING = 2000;

const form = byId("asked");
const query = byId("query");
const results = byId("results");
const kept = ["way", "language", "path", "kind", "case", "word"];
/** Fields with text. */
const hidden = ["q", "path"];
let asking = new AbortController();

function asked() {
  const told = new FormData(form);
  return { query: told.get("q"), ...Object.fromEntries(kept.map((name) => [name, told.get(name) ?? ""])) };
}

/** The question in the address is settled: the next one is an entry of its own for Back. */
let settled = true;
const settle = later(() => { settled = true; }, SETTLED);

/** What is asked stands in the address: it can be kept, and is there again after a reload. History
 *  keeps addresses for months, so texts about a sealed project stay with the tab. */
function note({ query: text, ...rest }) {
  const here = new URL(location.href);
  const told = { q: text, ...rest };
  for (const [name, value] of Object.entries(told)) {
    const usual = value === "" || (name === "way" && value === "meaning");
    if (usual || (form.dataset.sealed !== undefined && hidden.includes(name))) here.searchParams.delete(name);
    else here.searchParams.set(name, value);
  }
  const before = present();
  if (here.href === location.href && hidden.every((name) => told[name] === (before.get(name) ?? ""))) return;
  history[settled && before.get("q") ? "pushState" : "replaceState"](told, "", here);
  settled = false;
  settle();
}

/** What was asked at this entry of the history. */
const present = () => new URLSearchParams(history.state ?? location.search);

function restore() {
  const told = present();
  form.reset();
  query.value = told.get("q") ?? "";
  for (const name of kept) {
    const value = told.get(name);
    if (value === null) continue;
    if (name === "way") {
      const way = [...form.elements.way].find((one) => one.value === value);
      if (way) way.checked = true;
    } else {
      const field = form.elements[name];
      if (field.type === "checkbox") field.checked = value === "yes";
      else if (field.options && ![...field.options].some((one) => one.value === value)) field.add(new Option(value));
      if (field.type !== "checkbox") field.value = value;
    }
  }
}

function hint() {
  const way = form.elements.way.value;
  const example = form.querySelector(`input[value="${way}"]`).dataset.example;
  const needs = way === "structure" ? "; choose a language" : "";
  query.placeholder = `${example}`;
  byId("hint").textContent = `for example: ${example}${needs}`;
  byId("kind").disabled = way === "structure";
  for (const name of ["case", "word"]) byId(name).disabled = way !== "words" && way !== "expression";
}

async function find({ more = false } = {}) {
  asking.abort();
  const own = (asking = new AbortController());
  const body = asked();
  note(body);
  results.setAttribute("aria-busy", "true");
  try {
    const found = await ask("find", { ...body, more }, { signal: own.signal });
    if (own.signal.aborted) return;
    fill(results, found);
    say("");
  } catch (error) {
    if (own.signal.aborted) return;
    const notice = document.createElement("p");
    notice.className = "notice odd";
    notice.textContent = error.message;
    fill(results, notice);
    if (error.starting) setTimeout(() => own === asking && find({ more }), STARTING);
  }
  results.setAttribute("aria-busy", "false");
}

const soon = later(find, WAIT);

form.addEventListener("submit", (event) => event.preventDefault());
// Without a button a form of several fields is not submitted by Enter.
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  close();
  find();
  settled = true;
});
results.addEventListener("click", async (event) => {
  settled = true;
  const narrowed = event.target.closest("[data-query]")?.dataset.query;
  if (narrowed) {
    query.value = narrowed;
    query.focus();
    return find();
  }
  if (event.target.id !== "more") return;
  const before = results.querySelectorAll("a.open").length;
  await find({ more: true });
  results.querySelectorAll("a.open")[before]?.focus();
});
addEventListener("popstate", () => {
  restore();
  hint();
  close();
  find();
});
form.addEventListener("input", (event) => {
  if (event.target === byId("editor")) return;
  hint();
  soon();
  if (event.target === query) offer();
});

const list = byId("completions");
let offered = [];
let marked = -1;

/** Where the word before the caret begins. */
const wordStart = () => query.value.lastIndexOf(" ", query.selectionStart - 1) + 1;

function close() {
  list.hidden = true;
  offered = [];
  query.setAttribute("aria-expanded", "false");
  query.removeAttribute("aria-activedescendant");
}

function mark(at) {
  marked = at;
  [...list.children].forEach((item, number) => item.setAttribute("aria-selected", number === at));
  if (at < 0) query.removeAttribute("aria-activedescendant");
  else query.setAttribute("aria-activedescendant", `completion-${at}`);
}

/** Put a completion in the place of the word before the caret. A name of a filter or a folder goes on. */
function take(word) {
  const start = wordStart();
  const goes_on = /[:/]$/.test(word);
  query.setRangeText(goes_on ? word : `${word} `, start, query.selectionStart, "end");
  query.focus();
  close();
  soon();
  if (goes_on) offer();
}

const offer = later(async () => {
  const word = query.value.slice(wordStart(), query.selectionStart);
  const { words } = /^-?[a-z]{2,}(:|$)/.test(word) ? await ask("complete", { word }).catch(() => ({ words: [] })) : { words: [] };
  if (word !== query.value.slice(wordStart(), query.selectionStart) || document.activeElement !== query || !words.length) return close();
  offered = words;
  list.replaceChildren(...words.map((one, number) => {
    const item = document.createElement("li");
    item.id = `completion-${number}`;
    item.role = "option";
    item.textContent = one;
    item.addEventListener("mousedown", (event) => { event.preventDefault(); take(one); });
    return item;
  }));
  mark(-1);
  list.hidden = false;
  query.setAttribute("aria-expanded", "true");
}, WAIT);

query.addEventListener("blur", close);
query.addEventListener("keydown", (event) => {
  if (list.hidden) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark((marked + step + offered.length + (marked < 0 && step < 0 ? 1 : 0)) % offered.length);
  else if (event.key === "Tab" && !event.shiftKey) take(offered[Math.max(marked, 0)]);
  else if (event.key === "Enter" && marked >= 0) take(offered[marked]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// Down and up go from the field to the results and along them.
document.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = [...results.querySelectorAll("a.open")];
  const at = links.indexOf(document.activeElement);
  if (!links.length || (at < 0 && event.target !== query)) return;
  event.preventDefault();
  const next = at + (event.key === "ArrowDown" ? 1 : -1);
  (next < 0 ? query : links[Math.min(next, links.length - 1)]).focus();
});

chosen(byId("editor"));
follow(results, form.dataset.root, byId("editor"));

// What is served changed: the same question again, unless somebody is about to ask another.
let first = true;
on("generation", () => {
  if (!first && query.value.trim()) find();
  first = false;
});

restore();
hint();
find();
