// Groups the nodes of a large picture by folder and file, so that few are drawn at first.

/** Nodes that a picture begins with, at most: fewer where their names are too long for the window. */
export const NODES_MAX = [24, 16, 8];
/** Severities of edges, the highest first. */
const ORDER = ["high", "medium", "low", ""];
/** The group of the smallest groups, where there are too many at the top. */
const OTHERS = "…";

/** The folders around a node, from the top down, and its file. */
function keysOf(node) {
  const parts = node.file.split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/") + (at + 1 < parts.length ? "/" : ""));
}

/** Key → nodes: of a group that is not in `opened`, or of one node alone. */
function groupsOf(picture, opened) {
  const groups = new Map();
  for (const node of picture.nodes) {
    const alone = node.alone || node.id === picture.center;
    const key = alone ? node.id : keysOf(node).find((one) => !opened.has(one)) ?? node.id;
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return groups;
}

/** The groups, the largest first. */
const bySize = (groups) => [...groups].sort(([, a], [, b]) => b.length - a.length);

/** What is open at first: the largest groups, as long as few nodes are drawn; null where no group is needed. */
export function openAtFirst(picture, most) {
  if (picture.nodes.length <= NODES_MAX[0]) return null;
  const opened = new Set();
  for (let tried = new Set(); ;) {
    const next = bySize(groupsOf(picture, opened)).find(([key, nodes]) => nodes.length > 1 && !tried.has(key));
    if (!next) {
      picture.most = opened.size ? Infinity : most;
      return opened;
    }
    tried.add(next[0]);
    if (groupsOf(picture, new Set([...opened, next[0]])).size <= most) opened.add(next[0]);
  }
}

/** Open a group, and those inside that hold all of it. */
export function open(picture, opened, key) {
  const members = groupsOf(picture, opened).get(key) ?? [];
  for (let next = key; next; ) {
    opened.add(next);
    const same = ([, nodes]) => nodes.length > 1 && nodes.length === members.length && nodes[0] === members[0];
    next = [...groupsOf(picture, opened)].find(same)?.[0] ?? "";
  }
}

/** The picture with one node for each group that is not open. */
export function grouped(picture, opened) {
  if (!opened) return picture;
  const groups = groupsOf(picture, opened);
  const may_rest = ([key]) => key !== picture.center && !picture.nodes.some((node) => node.alone && node.id === key);
  const rest = opened.has(OTHERS) ? [] : bySize(groups).filter(may_rest).slice(picture.most);
  for (const [key] of rest) groups.delete(key);
  if (rest.length) groups.set(OTHERS, rest.flatMap(([, nodes]) => nodes));
  const drawn = new Map();
  const nodes = [...groups].map(([key, members]) => {
    const node = members.length === 1 ? members[0]
      : { id: `group:${key}`, name: `${key} · ${members.length}`, file: members[0].file, kind: "group", key };
    for (const member of members) drawn.set(member.id, node.id);
    return node;
  });
  const edges = new Map();
  for (const edge of picture.edges) {
    const [from, to] = [drawn.get(edge.from), drawn.get(edge.to)];
    const before = edges.get(`${from}\n${to}`);
    if (!from || !to || from === to) continue;
    if (before && ORDER.indexOf(before.severity) <= ORDER.indexOf(edge.severity)) continue;
    edges.set(`${from}\n${to}`, { ...edge, from, to });
  }
  return { ...picture, nodes, edges: [...edges.values()] };
}
