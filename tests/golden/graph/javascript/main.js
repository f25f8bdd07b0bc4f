const store = require("./store");
const { check } = require("./store");

function main(unknown) {
  const s = new store.Store();
  s.save(1);
  store.check(2);
  unknown.save(3);
  unknown.forEach(() => main());
}
