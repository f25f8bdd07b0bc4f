import type { Disk } from "./disk";

export function move<T>(this: Disk<T>): Disk<T> {
  return this.make();
}

export const turn: <T, Longer extends string>(
  this: Disk<T>,
  round: number,
  name: Longer,
  when: Date | undefined | null,
  how: { fast: boolean; often: boolean; loud: boolean; backwards: boolean }
) => Disk<T> = spin(1);

function spin(times: number): any {
  return times;
}
