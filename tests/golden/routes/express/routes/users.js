const router = require('express').Router();
const controller = require('../controller');
router.route('/').get(controller.list).post(check, controller.create);
router.get('/:id', wrap(controller.show));
router.delete('/:id', (req, res) => { controller.drop(); });
function check() {}
function wrap(f) { return f; }
module.exports = router;
