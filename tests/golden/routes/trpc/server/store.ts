export function findPosts(id?: number) {}

export function savePost(post) {}
