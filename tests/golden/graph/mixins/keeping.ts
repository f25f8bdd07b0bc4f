import type { Disk } from "./disk";
import { clean } from "./naming";

export function keep<T>(this: Disk<T>): Disk<T> {
  clean();
  return this.move();
}

export function size<T, Whole extends Disk<T>>(this: Whole): Whole {
  return this;
}
