// The view that searches: asks while one types, drops what is late, opens results in an editor.

import { ask, byId, fill, later, on, say } from "./page.js";
import { chosen, follow } from "./editor.js";

/** Milliseconds after the last key until it is asked. */
const WAIT = 100;

const form = byId("asked");
const query = byId("query");
const results = byId("results");
const kept = ["way", "language", "path", "kind"];
let asking = new AbortController();

function asked() {
  const told = new FormData(form);
  return { query: told.get("q"), ...Object.fromEntries(kept.map((name) => [name, told.get(name) ?? ""])) };
}

/** What is asked stands in the address: it can be kept, and is there again after a reload. */
function note({ query: text, ...rest }) {
  const here = new URL(location.href);
  for (const [name, value] of Object.entries({ q: text, ...rest })) {
    const usual = value === "" || (name === "way" && value === "meaning");
    if (usual) here.searchParams.delete(name);
    else here.searchParams.set(name, value);
  }
  history.replaceState(null, "", here);
}

function restore() {
  const told = new URLSearchParams(location.search);
  query.value = told.get("q") ?? "";
  for (const name of kept) {
    const value = told.get(name);
    if (value === null) continue;
    if (name === "way") {
      const way = [...form.elements.way].find((one) => one.value === value);
      if (way) way.checked = true;
    } else {
      const field = form.elements[name];
      if (field.options && ![...field.options].some((one) => one.value === value)) field.add(new Option(value));
      field.value = value;
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
}

async function find() {
  asking.abort();
  const own = (asking = new AbortController());
  const body = asked();
  note(body);
  results.setAttribute("aria-busy", "true");
  try {
    const found = await ask("find", body, { signal: own.signal });
    if (own.signal.aborted) return;
    fill(results, found);
    say("");
  } catch (error) {
    if (own.signal.aborted) return;
    const notice = document.createElement("p");
    notice.className = "notice odd";
    notice.textContent = error.message;
    fill(results, notice);
  }
  results.setAttribute("aria-busy", "false");
}

const soon = later(find, WAIT);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  find();
});
form.addEventListener("input", (event) => {
  if (event.target === byId("editor")) return;
  hint();
  soon();
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
