// The targets of calls of TypeScript and JavaScript, by TypeScript's language service.
//
//     node typescript.cjs FOLDER < lines "path TAB line TAB column"
//     ->  lines "path line column path line column" with tabs between, the last three "-" for a target
//     outside the folder, "?" for no answer; columns from 0, in UTF-16 units.
//
// One program for each tsconfig.json or jsconfig.json, and one for the files without either. `{ name }`
// in an object is followed to the definition of the name.
const fs = require("fs");
const path = require("path");

const compiler = process.env.PATH.split(path.delimiter)
  .map((folder) => path.join(folder, "tsc"))
  .find((place) => fs.existsSync(place));
const ts = require(path.join(path.dirname(fs.realpathSync(compiler)), "..", "lib", "typescript.js"));
const root = fs.realpathSync(process.argv[2]);

const asked = new Map();
for (const row of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [file, line, column] = row.split("\t");
  if (!asked.has(file)) asked.set(file, []);
  asked.get(file).push([Number(line), Number(column)]);
}

const projects = new Map();
for (const file of asked.keys()) {
  const folder = path.dirname(path.join(root, file));
  const near = ["tsconfig.json", "jsconfig.json"]
    .map((name) => ts.findConfigFile(folder, ts.sys.fileExists, name))
    .find((place) => place && place.startsWith(root + path.sep));
  if (!projects.has(near)) projects.set(near, []);
  projects.get(near).push(file);
}

function serviceOf(config, files) {
  let [options, names] = [{}, []];
  if (config) {
    const read = ts.readConfigFile(config, ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent(read.config || {}, ts.sys, path.dirname(config), undefined, config);
    [options, names] = [parsed.options, parsed.fileNames];
  }
  const usual = { target: 99, module: 99, moduleResolution: 100, jsx: 1, esModuleInterop: true };
  options = { ...usual, ...options, allowJs: true, checkJs: false, noEmit: true, skipLibCheck: true };
  const all = [...new Set([...names, ...files.map((file) => path.join(root, file))])];
  const { fileExists, readFile, readDirectory, directoryExists, getDirectories, realpath } = ts.sys;
  return ts.createLanguageService({
    getScriptFileNames: () => all,
    getScriptVersion: () => "1",
    getScriptSnapshot: (name) => {
      const text = readFile(name);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => (config ? path.dirname(config) : root),
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists, readFile, readDirectory, directoryExists, getDirectories, realpath,
  });
}

/** The places of a target: [file name, offset]. */
function placesOf(program, target) {
  const source = program.getSourceFile(target.fileName);
  const own = [[target.fileName, target.textSpan.start]];
  if (!source) return own;
  let node = source;
  for (let inner = node; inner; ) {
    node = inner;
    inner = ts.forEachChild(node, (child) =>
      child.getStart(source) <= target.textSpan.start && target.textSpan.start < child.end ? child : undefined);
  }
  if (!node.parent || !ts.isShorthandPropertyAssignment(node.parent)) return own;
  const checker = program.getTypeChecker();
  let symbol = checker.getShorthandAssignmentValueSymbol(node.parent);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const declared = (symbol && symbol.declarations) || [];
  const found = declared.map((one) => [one.getSourceFile().fileName, (one.name || one).getStart()]);
  return found.length ? found : own;
}

function tell(...fields) {
  process.stdout.write(fields.join("\t") + "\n");
}

for (const [config, files] of projects) {
  const service = serviceOf(config, files);
  const program = service.getProgram();
  for (const file of files) {
    const whole = path.join(root, file);
    const source = program.getSourceFile(whole);
    if (!source) continue;
    for (const [line, column] of asked.get(file)) {
      let targets = [];
      try {
        targets = service.getDefinitionAtPosition(whole, source.getPositionOfLineAndCharacter(line - 1, column)) || [];
      } catch (error) {
        continue; // its own faults give no target
      }
      if (!targets.length) tell(file, line, column, "?", "?", "?");
      for (const [name, at] of targets.flatMap((target) => placesOf(program, target))) {
        const its = program.getSourceFile(name);
        const inside = its && name.startsWith(root + path.sep) && !name.includes("/node_modules/");
        const place = inside && its.getLineAndCharacterOfPosition(at);
        if (inside) tell(file, line, column, path.relative(root, name), place.line + 1, place.character);
        else tell(file, line, column, "-", "-", "-");
      }
    }
  }
}
