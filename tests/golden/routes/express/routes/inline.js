const { Router } = require('express');
module.exports = () => {
  const router = Router();
  router.put('/x', handle);
  return router;
};
function handle() {}
