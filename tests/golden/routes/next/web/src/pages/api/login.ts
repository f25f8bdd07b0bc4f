export default async function login(request, response) { response.end(); }
