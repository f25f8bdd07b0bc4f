const Koa = require('koa');
const Router = require('@koa/router');
const orders = require('./orders');

const app = new Koa();
const router = new Router({ prefix: '/api' });
router.get('/', (ctx) => { ctx.body = 'x'; });
router.all('/any', any);
router.get('named', '/named', any);
router.use('/orders', orders.routes(), orders.allowedMethods());
app.use(router.routes()).use(router.allowedMethods());
const health = new Router();
health.get('/health', check, any);
app.use(health.routes());

async function any(ctx) { ctx.body = 'any'; }
async function check(ctx, next) { await next(); }

module.exports = { app, routers: [router, health] };
