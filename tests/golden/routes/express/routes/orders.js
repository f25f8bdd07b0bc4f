const express = require('express');
const orders = express.Router(), admin = express.Router();
const { place } = require('./place');
orders.post('/orders', place);
admin.get('/stats', stats);
const sub = express.Router({ mergeParams: true });
sub.get('/', items);
orders.use('/orders/:orderId/items', sub);
function items() {}
function stats() {}
module.exports = { orders, admin };
