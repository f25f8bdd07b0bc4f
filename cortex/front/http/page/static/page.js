// What every view's module uses: asking the server, what happens, saying it, the frame's own parts.

const body = document.body;

/** The project that this page is about. */
export const project = body.dataset.project;

/** An element by its id. */
export const byId = (id) => document.getElementById(id);

/** A local address with the project in it. */
export function address(path, query = {}) {
  const told = new URLSearchParams({ project, ...query });
  return `${path}?${told}`;
}

/** Say something to people, those who listen as well; "" takes it back. `kind`: "wrong" or "". */
export function say(sentence, kind = "") {
  const said = byId("said");
  said.dataset.kind = kind;
  said.textContent = sentence;
}

/** What a part of this view answers: a DocumentFragment, or an object where it has no template.
 *  Throws an Error with the server's sentence. */
export async function ask(part, asked = {}, { signal, view = body.dataset.view } = {}) {
  let reply;
  try {
    reply = await fetch(address(`/page/${view}/${part}`), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer; `cortex serve` starts it.");
  }
  const json = (reply.headers.get("Content-Type") ?? "").startsWith("application/json");
  if (json) {
    const told = await reply.json();
    if (!reply.ok) throw Object.assign(new Error(told.error?.message ?? `The server answered ${reply.status}.`), { starting: reply.status === 503 });
    return told;
  }
  if (!reply.ok) throw new Error(`The server answered ${reply.status}.`);
  const made = document.createElement("template");
  made.innerHTML = await reply.text(); // escaped where it was made; a template runs nothing
  return made.content;
}

/** Put `fragment` in the place of what is in `element`. */
export function fill(element, fragment) {
  element.replaceChildren(fragment);
}

const events = new EventSource(address("/v1/events"));

/** Call `told` with what happens: "generation", "progress", "workers", "memory". */
export function on(name, told) {
  events.addEventListener(name, (event) => told(JSON.parse(event.data)));
}

/** `work` once, `wait` milliseconds after the last call. */
export function later(work, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), wait);
  };
}

const fresh = byId("fresh");
const known = { generation: 0, pending: 0, indexing: false, done: 0, total: 0 };

function showFresh() {
  const busy = known.indexing || known.pending > 0 || known.done < known.total;
  fresh.dataset.state = known.generation === 0 ? "waiting" : busy ? "busy" : "fine";
  const to_come = Math.max(known.pending, known.total - known.done);
  fresh.textContent = busy
    ? `${to_come} ${to_come === 1 ? "file" : "files"} to come`
    : `generation ${known.generation}`;
  fresh.title = `${known.done} of ${known.total} files are served, as generation ${known.generation}`;
}

on("generation", (told) => { Object.assign(known, told); showFresh(); });
on("progress", (told) => { Object.assign(known, told); showFresh(); });
events.addEventListener("error", () => {
  fresh.dataset.state = "lost";
  fresh.textContent = "not connected";
  fresh.title = "";
});

byId("projects")?.addEventListener("change", (event) => {
  location.search = new URLSearchParams({ project: event.target.value });
});

// A form about a sealed project: the server makes the address, with keys in place of texts.
document.addEventListener("submit", async (event) => {
  if (event.target.method !== "dialog") return;
  event.preventDefault();
  try {
    location.assign((await ask("address", Object.fromEntries(new FormData(event.target)))).address);
  } catch (error) {
    say(error.message, "wrong");
  }
});

// "/" goes to the view's first field, as people are used to.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector("main input[type=search]");
  if (field) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});
