export interface Shown {
  show(): void;
}
export interface Row extends Shown {
  id: string;
}
export interface Loader {
  load(id: string): Row;
}
