exports.list = (req, res) => {};
exports.create = function (req, res) {};
exports.show = (req, res) => {};
exports.drop = () => {};
