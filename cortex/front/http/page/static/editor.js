// Opens a file at its line: on this page, in an editor that has an address of its own, or by copying its path.

import { say } from "./page.js";

const KEY = "cortex-editor";

/** Keep what is chosen in `select` for the next time. */
export function chosen(select) {
  const before = localStorage.getItem(KEY);
  if ([...select.options].some((one) => one.value === before)) select.value = before;
  select.addEventListener("change", () => localStorage.setItem(KEY, select.value));
}

/** The links with data-file in `element` open it. `root`: the project's folder, "" where it is on
 *  another machine: then the path is copied. A page may not lead to file:, so nobody is led there. */
export function follow(element, root, select) {
  element.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-file]");
    if (!link || select.value === "page" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const { file, line } = link.dataset;
    const path = root ? `${root}/${file}` : file;
    if (select.value === "copy" || !root) {
      try {
        await navigator.clipboard.writeText(`${path}:${line}`);
        say(`Copied ${path}:${line}`);
      } catch {
        say(`${path}:${line}`);
      }
      setTimeout(() => say(""), 3000);
      return;
    }
    const escaped = path.split("/").map(encodeURIComponent).join("/");
    location.href = `${select.value}://file${escaped}:${line}`;
  });
}
