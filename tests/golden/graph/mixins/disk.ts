import * as Keeping from "./keeping";
import * as Moving from "./moving";
import * as Naming from "./naming";

type Parts = typeof Keeping & typeof Moving & typeof Naming;

export abstract class Disk<T> {
  abstract make(): Disk<T>;

  begin() {
    return this.move().keep();
  }
}

export interface Disk<T> extends Parts, Iterable<T> {}

Object.assign(Disk.prototype, Keeping, Moving, Naming);
