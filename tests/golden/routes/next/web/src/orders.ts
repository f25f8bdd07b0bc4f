export function list() { return []; }
export async function make(request: Request) { return 1; }
export const drop = withUser(async () => 1);
