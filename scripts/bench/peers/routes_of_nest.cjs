// NODE_PATH=… node routes_of_nest.cjs ROOT TSCONFIG FILE:MODULE PREFIX VERSION [UNPREFIXED …]: the
// routes of a Nest application as JSON lines, from the decorators' metadata. Modules that are absent get a stub.
const Module = require("module");
const path = require("path");
const ts = require("typescript");
require("reflect-metadata");
const { RequestMethod } = require("@nestjs/common");

const [root, config, start, prefix, version, ...unprefixed] = process.argv.slice(2);
const { baseUrl = ".", paths = {} } = ts.readConfigFile(config, ts.sys.readFile).config.compilerOptions;
const stub = new Proxy(function () {}, {
  get: (target, key) => key === Symbol.toPrimitive ? () => "" : key === Symbol.iterator ? function* () {} : key === "prototype" ? target.prototype : key === "then" ? undefined : stub,
  apply: (_, __, [first, key]) => typeof first === "function" && first !== stub ? first : typeof first === "object" && typeof key === "string" ? undefined : stub,
});
const { _load } = Module;
Module._load = (name, parent, main) => {
  for (const [alias, [to]] of Object.entries(paths)) {
    const begin = alias.replace("*", "");
    if (name.startsWith(begin)) name = path.resolve(path.dirname(config), baseUrl, to.replace("*", name.slice(begin.length)));
  }
  try { Module._resolveFilename(name, parent); } catch { return stub; }
  return _load(name, parent, main);
};
Module._extensions[".ts"] = (module, file) => module._compile(ts.transpileModule(ts.sys.readFile(file), {
  compilerOptions: { module: "commonjs", target: "es2022", experimentalDecorators: true, esModuleInterop: true },
}).outputText, file);

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
  const [at] = Object.entries(require.cache).find(([, { exports }]) => Object.values(exports ?? {}).includes(cls)) ?? [""];
  for (const name of Object.getOwnPropertyNames(cls.prototype)) {
    const own = Reflect.getOwnMetadata("path", cls.prototype[name]);
    if (own === undefined || name === "constructor") continue;
    const number = Reflect.getMetadata("__version__", cls.prototype[name]) ?? Reflect.getMetadata("__version__", cls) ?? version;
    for (const first of [Reflect.getMetadata("path", cls)].flat()) for (const last of [own].flat()) {
      const begin = unprefixed.includes(first) ? [] : [prefix, ...(typeof number === "string" && number ? [`v${number}`] : [])];
      const full = [...begin, first, last].map((part) => `${part ?? ""}`.replace(/^\/|\/$/g, "")).filter(Boolean).join("/");
      const method = RequestMethod[Reflect.getMetadata("method", cls.prototype[name])].replace("ALL", "ANY");
      console.log(JSON.stringify({ method, path: `/${full}`, handler: `${path.relative(root, at).replace(/\.ts$/, "")}:${cls.name}.${name}` }));
    }
  }
};
walk(require(path.resolve(file))[name]);
