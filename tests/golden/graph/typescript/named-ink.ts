export class Ink {
  say() {}
}
