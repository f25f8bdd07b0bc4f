// The view of the project: draws its map, and follows what is served.

import { address, ask, byId, fill, later, on, say } from "./page.js";

/** Milliseconds that events are gathered: a burst of saves is one look. */
const WAIT = 250;

async function look() {
  try {
    const [now, tiles] = await Promise.all([ask("now"), ask("tiles")]);
    for (const part of [".figures", ".grid"]) {
      document.querySelector(`main > ${part}`).replaceWith(now.querySelector(part));
    }
    fill(byId("tiles"), tiles);
    say("");
  } catch (error) {
    say(error.message, "wrong");
  }
}

async function draw() {
  try {
    fill(byId("tiles"), await ask("tiles"));
  } catch (error) {
    say(error.message, "wrong");
  }
}

/** What the tile under the pointer is; a click keeps it, and leads to a search in it. */
function tell({ path, lines, references, files }, kept) {
  const told = byId("tile");
  const what = Number(files) > 1 ? `${path} (${files} files)` : path;
  told.textContent = `${what} · ${lines} lines · ${references} references `;
  if (!kept) return;
  const link = document.createElement("a");
  link.href = address("/search", { path });
  link.textContent = "search in it";
  told.append(link);
}

let kept = false;
byId("tiles").addEventListener("pointerover", (event) => {
  if (!kept && event.target.dataset?.path !== undefined) tell(event.target.dataset, false);
});
byId("tiles").addEventListener("click", (event) => {
  kept = event.target.dataset?.path !== undefined;
  if (kept) tell(event.target.dataset, true);
});

const soon = later(look, WAIT);
let told = 0;
for (const name of ["generation", "progress"]) {
  on(name, () => {
    told += 1;
    if (told > 2) soon(); // the first of each say how it was when the page was made
  });
}
draw();
