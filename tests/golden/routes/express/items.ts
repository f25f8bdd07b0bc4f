import { Router } from 'express';
const router = Router();
class C { list = async () => {}; show() {} }
const c = new C();
router.get('/', c.list);
router.get('/:id', c.show.bind(c));
export default router;
