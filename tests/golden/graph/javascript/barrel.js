export { odd as again } from "./sides.js";
import { odd } from "./sides.js";

export function even(n) {
  return n ? odd(n - 1) : true;
}
