// Accessors run code where they are read and assigned; fields do not.
class Scale {
  weigh(n: number): number { return n; }
  note(n: number): void {}
}

class Crate {
  scale = new Scale();
  plain = 1;
  get size(): number { return this.scale.weigh(1); }
  get weight(): number { return this.scale.weigh(2); }
  set weight(n: number) { this.scale.note(n); }
  static get count(): number { return new Scale().weigh(3); }
  own(): number { return this.size + this.weight; }
}

class Sack {
  size = 1;
  weight = 2;
}

export function readUses(crate: Crate): number { return crate.size + Crate.count; }
export function assignUses(crate: Crate): void { crate.weight = 1; }
export function changeUses(crate: Crate): void { crate.weight += 1; }
export function otherUses(sack: Sack, crate: Crate): number { sack.weight = sack.size; return crate.plain; }
