import type { Disk } from "./disk";
import * as helps from "./naming";

export interface Shelf extends Helps {
  (name: string): Disk<string>;
  load: ReturnType<typeof loader>;
}
type Helps = typeof helps;

export function loader(text: Disk<string>["make"]) {
  return function load(name: string): Shelf {
    text();
    return Object.assign({}, helps) as unknown as Shelf;
  };
}
