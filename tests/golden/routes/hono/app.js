import { Hono } from 'hono';
import { logger } from 'hono/logger';
import orders from './orders.js';
import { admin, stats } from './admin.js';

const app = new Hono();
app.use('*', logger());
app.get('/', (c) => c.text('x'));
app.all('/any', any);
app.route('/orders', orders);
const api = app.basePath('/api');
api.get('/me', me);
api.route('/admin', admin);
app.get(process.env.BASE + '/late', me);
app.get('/both', logger(), stats);

function any(c) { return c.text('any'); }
function me(c) { return c.text('me'); }

export default app;
