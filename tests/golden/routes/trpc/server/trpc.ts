import { initTRPC } from '@trpc/server';

const t = initTRPC.context().create();

export const router = t.router;
export const mergeRouters = t.mergeRouters;
export const publicProcedure = t.procedure;
