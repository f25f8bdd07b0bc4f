export const kinds: { text: "a"; box: "b" } = make();

function make(): any {
  return {};
}
