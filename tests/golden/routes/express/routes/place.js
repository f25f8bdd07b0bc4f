async function place(req, res) {}
module.exports = { place };
