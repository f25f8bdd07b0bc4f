export abstract class Base {
  abstract load(id: string): unknown;
  touch() {
    this.load("a");
  }
}
