import { list } from '../../../orders';
export { make as POST, drop as DELETE } from '../../../orders';

export const dynamic = 'force-dynamic';

export async function GET() { return list(); }
