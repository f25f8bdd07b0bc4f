import { even } from "./barrel.js";

export class Left {
  turn() {
    return even(1);
  }
}

export class Right {
  turn() {
    return new Left().turn();
  }
}

export function wrap(target) {
  return target;
}

export function odd(n) {
  return n ? even(n - 1) : false;
}
