export const RATES = 'RATES';
export const CLOCK = Symbol('CLOCK');
export abstract class OrdersService {
  abstract list(): number;
}
export interface Mail {
  send(): void;
}
export interface Rates {
  rate(): number;
}
export interface Clock {
  now(): number;
}
