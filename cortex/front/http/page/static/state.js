// The view of the machinery: looks again when who runs has changed.

import { ask, byId, fill, on, say } from "./page.js";

let told = 0;
on("workers", async () => {
  told += 1;
  if (told < 2) return;
  try {
    fill(byId("now"), await ask("now"));
  } catch (error) {
    say(error.message, "wrong");
  }
});
