export function showToast(t: string) { return t; }
export function fmt(n: number) { return `${n}`; }
export class Store { save() {} static open() { return new Store(); } }
export const useStore = () => new Store();
