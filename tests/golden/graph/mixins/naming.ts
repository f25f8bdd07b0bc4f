export function clean() {}
export function label(this: unknown) {}
