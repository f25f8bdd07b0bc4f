import { Ink } from "./named-ink";

export class Hue {
  say() {}
}

export interface Pen {
  say(): void;
}

export class Box {
  Ink: Ink = new Ink();
  spare: Ink;
  Hue: Ink;
  tone: Hue;
  constructor(public Pen: Pen, private kept: Pen) {}
  own() { this.Ink.say(); }
  sibling() { this.spare.say(); }
  wrong() { this.Hue.say(); }
  right() { this.tone.say(); }
  through() { this.Pen.say(); this.kept.say(); }
}

export interface Options {
  Hue: Hue;
  other: Hue;
}

export function given(Ink: Ink, options: Options) {
  Ink.say();
  options.Hue.say();
  options.other.say();
}
