import { publicProcedure, router } from './trpc';
import { findPosts, savePost } from './store';
import { getPost } from './get-post';

export const postRouter = router({
  list: publicProcedure.query(() => findPosts()),
  byId: getPost,
  add: publicProcedure.input(schema).mutation(async ({ input }) => {
    const post = await savePost(input);
    return post;
  }),
  comments: router({
    list: publicProcedure.query(listComments),
  }),
  audit: {
    onAdd: publicProcedure.subscription(() => findPosts()),
  },
});

function listComments() {
  return findPosts();
}
