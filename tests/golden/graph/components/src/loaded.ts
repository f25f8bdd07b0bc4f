import { lazy } from "ui";

const Panel = lazy(() => import("./lib/Panel.svelte"));

export function chained() {
  return import("./toast").then((toast) => toast.showToast("a"));
}

export function destructured() {
  import("./toast").then(({ fmt, useStore: open }) => open().save(fmt(1)));
}

export async function awaited() {
  const { fmt } = await import("./toast");
  return fmt(1);
}

export function made() {
  import("./toast").then(async function (toast) {
    const store = new toast.Store();
    store.save();
  });
}

export function shown() {
  return Panel;
}
