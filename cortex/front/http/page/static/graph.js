// The picture of the graph: draws what the server found, and grows by click. The lists beside it say
// the same to who reads or listens.

import cytoscape from "./vendor/cytoscape.esm.min.mjs";
import { ask, byId, say } from "./page.js";
import { chosen, follow } from "./editor.js";
import { NODES_MAX, grouped, open, openAtFirst } from "./clusters.js";

const drawing = byId("drawing");
const DASHES = { exact: [1, 0], import: [1, 0], receiver: [8, 4], name: [2, 4], dispatch: [8, 3, 2, 3], unsure: [1, 6] };
const WIDTHS = { exact: 2.2, import: 1.4, receiver: 1.6, name: 1.6, dispatch: 1.6, unsure: 1.6 };
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
/** The zoom from which names can be read. */
const READABLE = 0.7;
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** A colour of the style sheet. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function style() {
  const [text, quiet, sheet, raised, accent, soft, line, wrong, odd] = [
    "--text", "--quiet", "--sheet", "--raised", "--accent", "--accent-soft", "--line", "--wrong", "--odd",
  ].map(colour);
  const levels = { high: wrong, medium: odd, low: quiet };
  return [
    { selector: "node", style: {
      label: "data(name)", shape: "round-rectangle", width: "data(width)", height: 26, "font-size": 12,
      "font-family": "ui-monospace, Menlo, Consolas, monospace", color: text, "text-valign": "center",
      "background-color": raised, "border-width": 1, "border-color": line,
    } },
    { selector: "node.test", style: { "background-color": sheet, "border-style": "dashed" } },
    { selector: "node.group", style: { "border-width": 2, "border-style": "double", "font-weight": 600 } },
    { selector: "node.grown", style: { "border-color": accent } },
    { selector: "node.center", style: { "background-color": soft, "border-color": accent, "border-width": 2 } },
    { selector: "node:selected, node:active", style: { "border-color": accent, "border-width": 2, "overlay-opacity": 0 } },
    { selector: "edge", style: {
      "curve-style": "bezier", "target-arrow-shape": "triangle", "arrow-scale": 0.8, "line-color": quiet,
      "target-arrow-color": quiet, width: 1.6,
    } },
    ...Object.keys(DASHES).map((name) => ({ selector: `edge.${name}`, style: {
      width: WIDTHS[name],
      ...(DASHES[name][1] ? { "line-style": "dashed", "line-dash-pattern": DASHES[name] } : { "line-style": "solid" }),
    } })),
    ...Object.entries(levels).map(([name, value]) => ({ selector: `edge.at-${name}`, style: {
      "line-color": value, "target-arrow-color": value,
    } })),
  ];
}

const shortened = (name, most = 34) => (name.length > most ? `${name.slice(0, most / 2 - 1)}…${name.slice(-most / 2)}` : name);

function elements(picture) {
  const nodes = picture.nodes.map((node) => {
    const name = node.kind === "group" ? shortened(node.name, 44) : shortened(node.name);
    return { group: "nodes", data: { ...node, name, width: 18 + 7.3 * name.length },
      classes: [/(^|\/)tests?[/_.]/.test(node.file) ? "test" : "", node.id === picture.center ? "center" : "", node.kind === "group" ? "group" : ""] };
  });
  const edges = picture.edges.map((edge) => ({ group: "edges",
    data: { id: `${edge.from}\n${edge.to}`, source: edge.from, target: edge.to, place: edge.place },
    classes: [edge.confidence || "exact", edge.severity ? `at-${edge.severity}` : ""] }));
  return [...nodes, ...edges];
}

/** Columns from left to right: who calls, what was asked about, what it calls; a path is a column. */
function placed(picture, graph, root) {
  const columns = new Map([[picture.center, 0]]);
  const follow_edges = (ends, next, step) => {
    let edge = [picture.center];
    for (let at = step; edge.length; at += step) {
      edge = edge.flatMap((id) => picture.edges.filter((one) => one[ends] === id).map((one) => one[next]));
      edge = edge.filter((id) => !columns.has(id));
      edge.forEach((id) => columns.set(id, at));
    }
  };
  follow_edges("to", "from", -1);
  follow_edges("from", "to", 1);
  const rows = new Map();
  const positions = {};
  for (const [id, column] of columns) {
    const list = rows.get(column) ?? [];
    list.push(id);
    rows.set(column, list);
  }
  const upright = picture.layout === "path" || root.clientWidth < 560;
  const widest = (ids) => Math.max(...ids.map((id) => graph.getElementById(id).data("width") ?? 120));
  for (const side of [-1, 1]) {
    let edge = widest([picture.center]) / 2;
    let row = 0;
    for (const column of [...rows.keys()].filter((one) => one * side > 0 || (side > 0 && one === 0)).sort((a, b) => (a - b) * side)) {
      for (const ids of divided(rows.get(column), upright ? ACROSS_MAX : ROWS_MAX)) {
        const width = widest(ids);
        const x = column === 0 ? 0 : side * Math.max(260 * (row + 1), edge + 60 + width / 2);
        if (column !== 0) [edge, row] = [Math.abs(x) + width / 2, row + 1];
        ids.forEach((id, at) => {
          const across = at - (ids.length - 1) / 2;
          positions[id] = upright ? { x: across * (width + 24), y: side * row * 90 } : { x, y: across * 42 };
        });
      }
    }
  }
  return positions;
}

/** Rows of one column, and nodes beside each other where it is narrow; a longer one goes on in the next. */
const ROWS_MAX = 14;
const ACROSS_MAX = 4;

function divided(ids, most) {
  return Array.from({ length: Math.ceil(ids.length / most) }, (_, at) => ids.slice(at * most, (at + 1) * most));
}

/** How far to move what reaches from `low` to `high`, so that it leaves no margin in a window that is too small. */
function shift(low, high, window) {
  if (high - low <= window) return (window - high - low) / 2;
  return low > 0 ? -low : Math.max(0, window - high);
}

/** Whether a node stands where another one would be drawn. */
function taken(node, position, others) {
  return others.some((one) => {
    const at = one.position();
    return Math.abs(at.y - position.y) < 36 && Math.abs(at.x - position.x) < (one.width() + node.width()) / 2 + 12;
  });
}

/** Beside what was clicked, who calls it on the left, as near as there is room. */
function placeGrown(graph, node, fresh, edges) {
  const { x, y } = node.position();
  const before = new Set(edges.filter((one) => one.to === node.id()).map((one) => one.from));
  const others = graph.nodes().difference(fresh).toArray();
  for (const one of fresh.toArray()) {
    const position = { x: x + (before.has(one.id()) ? -280 : 280), y };
    for (let step = 1; taken(one, position, others); step += 1) {
      position.y = y + 42 * Math.ceil(step / 2) * (step % 2 ? 1 : -1);
    }
    one.position(position);
    others.push(one);
  }
}

/** The same in words, below the lists. */
function listGrown(node, fresh, edges) {
  const name = node.data("name");
  const how = new Map(edges.flatMap((one) => [[one.to, "is called"], [one.from, "calls it"]]));
  const list = document.createElement("section");
  list.className = "sheet";
  list.setAttribute("aria-label", `Callers and callees of ${name}`);
  const header = document.createElement("header");
  const title = document.createElement("h2");
  title.textContent = `Callers and callees of ${name}`;
  header.append(title);
  const items = document.createElement("ul");
  items.className = "refs";
  for (const one of fresh) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.className = "mono";
    link.href = one.data("address");
    link.textContent = one.data("name");
    const told = document.createElement("span");
    told.className = "quiet";
    told.textContent = `${how.get(one.id()) ?? ""}, ${one.data("file")}`;
    item.append(link, told);
    items.append(item);
  }
  list.append(header, items);
  byId("grown").prepend(list);
}

async function grow(graph, node, whole) {
  const told = byId("drawn-said");
  if (node.hasClass("grown") || node.hasClass("center")) return;
  node.addClass("grown");
  told.textContent = `Loading callers and callees of ${node.data("name")} …`;
  try {
    const picture = await ask("grow", { of: node.id() });
    for (const one of picture.nodes) {
      const before = whole.nodes.find(({ id }) => id === one.id);
      if (before) before.alone = true;
      else whole.nodes.push({ ...one, alone: true });
    }
    whole.edges.push(...picture.edges);
    const fresh = graph.add(elements({ ...picture, center: "" }).filter((one) => !graph.getElementById(one.data.id).length));
    placeGrown(graph, node, fresh.nodes(), picture.edges);
    graph.animate({ fit: { padding: 24 }, duration: STILL.matches ? 0 : 200 });
    const count = fresh.nodes().length;
    const hidden = picture.more.callers + picture.more.callees;
    told.textContent = `${node.data("name")}: ${count} more ${count === 1 ? "symbol" : "symbols"}`
      + (hidden ? `, and ${hidden} that are not shown.` : ".");
    if (count) listGrown(node, fresh.nodes().toArray(), picture.edges);
  } catch (error) {
    node.removeClass("grown");
    told.textContent = "";
    say(error.message, "wrong");
  }
}

function draw() {
  const picture = JSON.parse(drawing.dataset.picture);
  const graph = cytoscape({
    container: drawing, style: style(), layout: { name: "null" },
    minZoom: 0.1, maxZoom: 2.5, wheelSensitivity: 0.3, boxSelectionEnabled: false,
  });
  const whole = () => { graph.fit(undefined, 24); if (graph.zoom() > 1.1) { graph.zoom(1.1); graph.center(); } };
  /** Show all, unless its names would be too small to read: then one node with its surroundings, and no margin
   *  while something is cut. Whether all is shown. */
  const place = (shown, around) => {
    graph.elements().remove();
    graph.add(elements(shown));
    const positions = placed(shown, graph, drawing);
    graph.nodes().forEach((node) => { node.position(positions[node.id()] ?? { x: 0, y: 0 }); });
    whole();
    if (graph.zoom() >= READABLE) return true;
    graph.zoom(READABLE);
    graph.center(graph.getElementById(around));
    const { x1, x2, y1, y2 } = graph.elements().renderedBoundingBox();
    graph.panBy({ x: shift(x1, x2, graph.width()), y: shift(y1, y2, graph.height()) });
    return false;
  };
  let opened, first;
  NODES_MAX.some((most) => {
    opened = openAtFirst(picture, most);
    first = grouped(picture, opened);
    return place(first, picture.center) || !opened;
  });
  if (first.nodes.length < picture.nodes.length) {
    byId("drawn-said").textContent = "Click a group to see what is in it; the list has the same data.";
  }
  graph.on("tap", "node.group", ({ target }) => {
    open(picture, opened, target.data("key"));
    const shown = grouped(picture, opened);
    const members = shown.nodes.filter((node) => !graph.getElementById(node.id).length);
    place(shown, members[0]?.id ?? picture.center);
    byId("drawn-said").textContent = `${target.data("key")}: ${members.length} ${members.length === 1 ? "entry" : "entries"}.`;
  });
  byId("whole").addEventListener("click", whole);
  for (const [id, factor] of [["nearer", 1.25], ["farther", 0.8]]) {
    byId(id).addEventListener("click", () => graph.zoom({ level: graph.zoom() * factor,
      renderedPosition: { x: drawing.clientWidth / 2, y: drawing.clientHeight / 2 } }));
  }
  if (picture.layout === "around") graph.on("tap", "node[kind != 'group']", (event) => grow(graph, event.target, picture));
  DARK.addEventListener("change", () => graph.style(style()));
  new ResizeObserver(() => { graph.resize(); }).observe(drawing);
  drawing.dataset.nodes = graph.nodes().length;
  graph.on("add", "node", () => { drawing.dataset.nodes = graph.nodes().length; });
  drawing.dataset.state = "drawn";
  return [graph, picture];
}

if (drawing) {
  const [graph, picture] = draw();
  for (const button of document.querySelectorAll("[data-grow]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      button.disabled = true;
      grow(graph, graph.getElementById(button.dataset.grow), picture);
    });
  }
}
const editor = byId("editor");
chosen(editor);
follow(byId("main"), editor.closest("[data-root]").dataset.root, editor);

const form = document.querySelector(".graph-asked");
const showFields = () => { form.dataset.way = new FormData(form).get("way"); };
form.addEventListener("change", showFields);
showFields();
