// node routes_of_nest.cjs ROOT TSCONFIG FILE:MODULE PREFIX VERSION [UNPREFIXED …]: the
// routes of a Nest application as JSON lines, from the decorators' metadata. Modules that are absent get a stub.
const path = require("path");
const { install, stub } = require("./loading.cjs");

const [root, config, start, prefix, version, ...unprefixed] = process.argv.slice(2);
install(path.dirname(path.resolve(config)), path.resolve(config));
const load = require("module").createRequire(path.resolve(start));
load("reflect-metadata");
const { RequestMethod } = load("@nestjs/common");
const [file, name] = start.split(":");
const seen = new Set();
const walk = (entry) => {
  const module = entry?.forwardRef?.() ?? entry;
  if (!module || module === stub || seen.has(module)) return;
  seen.add(module);
  const found = (key) => [...(module[key] ?? []), ...(Reflect.getMetadata(key, module.module ?? module) ?? [])];
  found("imports").forEach(walk);
  found("controllers").forEach(show);
};
const show = (cls) => {
  const [at] = Object.entries(load.cache).find(([, { exports }]) => Object.values(exports ?? {}).includes(cls)) ?? [""];
  for (const name of Object.getOwnPropertyNames(cls.prototype)) {
    const own = Reflect.getOwnMetadata("path", cls.prototype[name]);
    if (own === undefined || name === "constructor") continue;
    const number = Reflect.getMetadata("__version__", cls.prototype[name]) ?? Reflect.getMetadata("__version__", cls) ?? version;
    for (const first of [Reflect.getMetadata("path", cls)].flat()) for (const last of [own].flat()) {
      const begin = [first, [first, last].filter(Boolean).join("/")].some((part) => unprefixed.includes(part)) ? [] : [prefix, ...(typeof number === "string" && number ? [`v${number}`] : [])];
      const full = [...begin, first, last].map((part) => `${part ?? ""}`.replace(/^\/|\/$/g, "")).filter(Boolean).join("/");
      const method = RequestMethod[Reflect.getMetadata("method", cls.prototype[name])].replace("ALL", "ANY");
      console.log(JSON.stringify({ method, path: `/${full}`, handler: `${path.relative(root, at).replace(/\.ts$/, "")}:${cls.name}.${name}` }));
    }
  }
};
walk(require(path.resolve(file))[name]);
