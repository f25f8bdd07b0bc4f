export interface Text {
  min(size: number): Text;
}
export const Text = make<Text>("text");

export function text(): Text {
  return Text.made();
}

function make<T>(name: string): any {
  function min() {}
  return min;
}

class Box {
  static create = (): Box => new Box();

  open(): Box {
    return this;
  }
}
const boxType = Box.create;

export { boxType as box };
