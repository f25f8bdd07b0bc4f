const express = require('express');
const users = require('./routes/users');
const { orders, admin } = require('./routes/orders');
const app = express();
app.use(express.json());
app.use('/users', users);
app.use('/api/v1', auth, orders);
app.use('/admin', admin);
app.use('/inline', require('./routes/inline')());
require('./routes/health')(app);
app.get('/', (req, res) => res.send('x'));
app.get('env');
app.all('/any', any);
function auth(req, res, next) { next(); }
function any(req, res) {}
module.exports = app;
