// Loads the modules of an application: TypeScript and ES modules as CommonJS, and a stub for modules
// that are absent. `install(root, config)`: the folder, and its tsconfig.json with aliases. TypeScript
// is the application's, or that of NODE_PATH. STUBS in the environment: further modules, by comma, as
// a client of a database that is not generated.
const Module = require("module");
const path = require("path");
const STUBS = (process.env.STUBS ?? "").split(",");

const stub = new Proxy(function () {}, {
  get: (target, key) => key === Symbol.toPrimitive ? () => "" : key === Symbol.iterator ? function* () {} : key === "prototype" ? target.prototype : key === "then" ? undefined : stub,
  apply: (_, __, [first, key]) => typeof first === "function" && first !== stub ? first : typeof first === "object" && typeof key === "string" ? undefined : stub,
  construct: () => stub,
});

function typescript(root) {
  for (const load of [Module.createRequire(path.join(root, "x.js")), require]) {
    try { return load("typescript"); } catch {}
  }
}

function install(root, config) {
  const ts = typescript(root);
  config ??= ts?.findConfigFile(root, ts.sys.fileExists);
  const { baseUrl = ".", paths = {} } = ts && config ? ts.readConfigFile(config, ts.sys.readFile).config.compilerOptions : {};
  const { _load } = Module;
  Module._load = (name, parent, main) => {
    for (const [alias, [to]] of Object.entries(paths)) {
      const begin = alias.replace("*", "");
      if (name.startsWith(begin)) name = path.resolve(path.dirname(config), baseUrl, to.replace("*", name.slice(begin.length)));
    }
    const source = ts && name.startsWith(".") && name.endsWith(".js") && path.resolve(path.dirname(parent?.filename ?? root), name).replace(/js$/, "ts");
    if (source && ts.sys.fileExists(source)) name = source;
    if (STUBS.includes(name)) return stub;
    try { Module._resolveFilename(name, parent); } catch { return stub; }
    return _load(name, parent, main);
  };
  if (!ts) return;
  const plain = Module._extensions[".js"];
  Module._extensions[".ts"] = Module._extensions[".js"] = (module, file) => {
    if (file.includes("node_modules")) return plain(module, file);
    const { outputText } = ts.transpileModule(ts.sys.readFile(file), {
      compilerOptions: { module: "commonjs", target: "es2022", experimentalDecorators: true, esModuleInterop: true, allowJs: true },
    });
    module._compile(outputText.replace(/import\.meta\.url/g, "require('url').pathToFileURL(__filename).href"), file);
  };
}

module.exports = { install, stub };
