export function tip(node) {}
