import { Hono } from 'hono';

export const admin = new Hono();
admin.delete('/users/:id', drop);
export function stats(c) { return c.text('stats'); }
function drop(c) { return c.text('drop'); }
