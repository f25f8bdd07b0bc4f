import { Base as Root, types, search as seek } from "./lib";
import type { Store } from "./lib/api";
import Api from "./lib/api";

function marked(target: unknown, name: string) {}

export class Left {
  turn(): boolean {
    return even(1);
  }
}

export class Right extends Left {
  constructor(private next: Left, readonly all: Array<Left> = []) {
    super();
  }
  turn(): boolean;
  turn(times: number): boolean;
  @marked
  turn(times?: number): boolean {
    return this.next.turn() && super.turn() && this.turn(times);
  }
}

class Pair<A extends Left, B = Right> {
  first!: A;
  rest: Map<string, Right> = new Map();
  get one(): Left {
    return new Left();
  }
  turn<C>(third: C): boolean {
    for (const right of this.rest.values()) right.turn(1);
    this.one.turn();
    return this.first.turn();
  }
}

function even(n: number): boolean {
  return n === 0 || odd(n - 1);
}
const odd = (n: number): boolean => n !== 0 && even(n - 1);

export async function run(store: Store, Root: Left, row: types.Row, later: Promise<Right>) {
  store.find("a").show();
  Root.turn();
  row.show();
  (await later).turn(2);
  seek("x");
  const seek2 = (even: (n: number) => boolean) => even(2);
  seek2(odd);
  const api = (await import("./lib/api")).default;
  const { turn } = new Left();
  turn();
  (store as unknown as Api).again();
  new Pair<Left>().turn(3);
}
