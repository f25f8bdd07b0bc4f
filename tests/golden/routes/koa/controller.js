exports.list = async (ctx) => { ctx.body = []; };
exports.create = async (ctx) => { ctx.body = {}; };
