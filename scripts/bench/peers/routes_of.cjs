// node routes_of.cjs ROOT FILE [WRAPPER …]: the routes of an Express application as JSON lines.
// FILE exports the application or makes it listen; WRAPPER: modules that export one function around
// handlers. A handler is `folder/module:name` where a module of ROOT exports it, else "-".
const path = require("path");
const { createRequire } = require("module");
const { install, stub } = require("./loading.cjs");

const [root, file, ...wrappers] = process.argv.slice(2).map((name) => path.resolve(name));
const load = createRequire(file);
install(root);
const express = load("express");
const inner = new Map();
const proto = express.Router.use ? express.Router : express.Router.prototype;
const { use } = proto;
proto.use = function (first, ...rest) {
  const count = this.stack.length;
  use.call(this, first, ...rest);
  for (const layer of this.stack.slice(count)) layer.mounted = typeof first === "function" ? [""] : [first].flat();
  return this;
};
const { use: useIn } = express.application;
express.application.use = function (first, ...rest) {
  const paths = typeof first === "function" ? [""] : [first].flat();
  for (const inner of [first, ...rest].flat()) if (inner?.handle && inner.set) (this.inside ??= []).push([paths, inner]);
  return useIn.call(this, first, ...rest);
};
for (const wrapper of wrappers) {
  const wrap = load(wrapper);
  load.cache[load.resolve(wrapper)].exports = (handler) => {
    const wrapped = wrap(handler);
    return inner.set(wrapped, handler), wrapped;
  };
}

function list(app) {
  const names = new Map();
  for (const [name, { exports }] of Object.entries(load.cache)) {
    const at = path.relative(root, name);
    if (!exports || at.startsWith("..") || at.includes("node_modules")) continue;
    for (const [key, value] of Object.entries(exports)) {
      if (typeof value === "function" && value !== stub && !names.has(value)) names.set(value, `${at.replace(/\.\w+$/, "")}:${key}`);
    }
  }
  const show = (app, prefix) => {
    walk((app._router ?? app.router)?.stack ?? [], prefix);
    for (const [paths, inner] of app.inside ?? []) for (const part of paths) show(inner, prefix + part.replace(/\/$/, ""));
  };
  const walk = (stack, prefix) => {
    for (const { route, handle, mounted } of stack) {
      for (const part of route ? [route.path].flat() : mounted ?? [""]) {
        if (!route) handle.stack && walk(handle.stack, prefix + part.replace(/\/$/, ""));
        else for (const method of Object.keys(route.methods)) {
          const last = route.stack.filter((layer) => !layer.method || layer.method === method).pop().handle;
          const handler = names.get(last) ?? names.get(inner.get(last)) ?? "-";
          console.log(JSON.stringify({ method: method === "_all" ? "ANY" : method.toUpperCase(), path: prefix + part, handler }));
        }
      }
    }
  };
  show(app, "");
  process.exit();
}

express.application.listen = function () { list(this); };
const app = load(file);
if (app.use) list(app);
