import * as z from "./index";
import { Text as Words, text } from "./schema";

const all = { ...z, again: ((size: number) => z.box().open()) as any };

const stored = z.box();
type stored = { open: string };

async function wait<T>(value: T): Promise<T> {
  return value;
}

async function run(words: Words) {
  await wait<string>("a");
  words.min(1);
  text().min(2);
  stored.open();
  all.box().open().open();
  all.again!(3);
  const { box, box: other } = z;
  box().open();
  other();
}

class Door {
  swing(): void {}
}

class Gate<T extends Door> {
  constructor(private door: T) {}

  pass(other: unknown): void {
    this.door.swing();
    if (other instanceof Door) {
      other.swing();
    }
  }
}

function same<T extends Door>(door: T): T {
  door.swing();
  return door;
}
