import { postRouter } from './posts';
import { mergeRouters, publicProcedure, router } from './trpc';

const health = router({ ping: publicProcedure.query(() => 'pong') });
const main = router({ post: postRouter, old: router({ post: postRouter }) });

export const appRouter = mergeRouters(health, main);
export type AppRouter = typeof appRouter;
export const lost = router({ gone: publicProcedure.query(() => 1) });
