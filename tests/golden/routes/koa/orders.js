const Router = require('@koa/router');
const controller = require('./controller');

const router = new Router();
router.get('/', controller.list).post('/', controller.create);
router.del('/:id', (ctx) => { ctx.body = ''; });

module.exports = router;
