import { request } from "./http";
import type { Cart } from "./types";

/** Where the shop is. */
export const BASE_URL = "https://shop.example";

let retries = 3;

export enum State {
  Open = "open",
  Paid = "paid",
}

/** What a client can do. */
export interface Client {
  find(id: string): Promise<Cart>;
}

export type Handler<T> = (value: T) => void;

/** Speaks HTTP. */
export class HttpClient implements Client {
  private readonly cache = new Map<string, Cart>();

  constructor(private base: string = BASE_URL) {}

  // Asks the server once.
  async find(id: string): Promise<Cart> {
    const known = this.cache.get(id);
    if (known) {
      return known;
    }
    return request(`${this.base}/carts/${id}`);
  }

  onError = (error: Error): void => {
    console.error(error);
  };
}

export function withRetry<T>(work: () => Promise<T>): Promise<T> {
  return work().catch(() => work());
}

export const double = (n: number): number => n * 2;

namespace Legacy {
  export function open(): void {}
}
