const express = require('express');
module.exports = function (app) {
  app.get('/health', ok);
};
function ok() {}
