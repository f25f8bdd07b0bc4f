// The view of the project: follows what is served.

import { ask, byId, fill, later, on, say } from "./page.js";

/** Milliseconds that events are gathered: a burst of saves is one look. */
const WAIT = 250;

async function look() {
  try {
    fill(byId("now"), await ask("now"));
    say("");
  } catch (error) {
    say(error.message, "wrong");
  }
}

const soon = later(look, WAIT);
let told = 0;
for (const name of ["generation", "progress"]) {
  on(name, () => {
    told += 1;
    if (told > 2) soon(); // the first of each say how it was when the page was made
  });
}
