import { Left as West, Right, wrap } from "./sides.js";
import * as sides from "./sides.js";
import { again } from "./barrel.js";

@wrap
class Both {
  west = new West();

  turn(Right) {
    this.west.turn();
    Right.turnBack();
    new sides.Right().turn();
    return again(this);
  }
}

function pick(flag) {
  const wrap = (x) => x;
  wrap(1);
  const one = flag ? new West() : null;
  one.turn();
  const two = new Right();
  two.turn();
  return new Both().turn(two);
}
