const handler = async (request: Request) => new Response('');
export { handler as PUT, handler as PATCH };
export const DELETE = withUser(async () => new Response(''));
