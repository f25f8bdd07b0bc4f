var proto = (exports = module.exports = {});
const made = Object.create(proto);

proto.start = function () {
  return this.stop();
};

proto.stop = proto.halt = function halt() {
  made.start();
};

made.next = function () {
  return this.halt();
};
