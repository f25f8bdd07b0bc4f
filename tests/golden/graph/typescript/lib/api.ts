import type { Loader, Row } from "./types";
import { Base } from "./base";

export default class Api extends Base implements Loader {
  private cache: Map<string, Row> = new Map();
  rows: Row[] = [];

  constructor(private readonly store: Store) {
    super();
  }

  load(id: string): Row {
    this.touch();
    this.store.find(id).show();
    this.rows[0].show();
    this.rows.forEach((row) => row.unknownOne());
    for (const row of this.rows) row.show();
    return this.cache.get(id)!;
  }

  static make(): Api {
    return new Api(new Store());
  }

  again = () => this.load("x");
}

export class Store {
  find(id: string): Row {
    return lookup(id);
  }
  find2(id: string): Row;
  find2(id: string, deep?: boolean): Row {
    return this.find(id);
  }
}

export const lookup = (id: string): Row => recurse<Row>(id);

function recurse<T>(id: string): T {
  return recurse(id);
}

// has load, as Loader has, and says nothing of it
export class Quiet {
  load(id: string): Row {
    return lookup(id);
  }
}
