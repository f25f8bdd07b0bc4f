import { Hono } from 'hono';
import { list } from './list.js';

const orders = new Hono()
  .get('/', list)
  .post('/', (c) => c.text('made'))
  .get('/:id', show);

function show(c) { return c.text('one'); }

export default orders;
