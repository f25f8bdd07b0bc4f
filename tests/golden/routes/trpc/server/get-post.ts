import { publicProcedure } from './trpc';
import { findPosts } from './store';

export const getPost = publicProcedure
  .input(schema)
  .query(({ input }) => findPosts(input));
