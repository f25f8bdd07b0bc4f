const proto = require("./proto");
const { trim, cut: shorten } = require("./text");
const util = require("util");
var Base = require("./base");

exports = module.exports = createApp;
exports.reset = reset;
exports.Sink = Sink;

function createApp() {
  proto.start();
  shorten(trim("a"));
  return require("./text").join("b");
}

function reset() {
  return Sink.open("c");
}

function Sink(name) {
  const write = () => flush();
  this.name = name;
  this.base = new Base();
  this.close = function () {
    return write();
  };
  write();
  function flush() {}
}
util.inherits(Sink, Base);

Sink.prototype.send = function send(item) {
  this.base.rest();
  this.log(item);
  return this.close();
};

Sink.open = (name) => new Sink(name);

Object.assign(Sink.prototype, {
  drain() {
    return this.send(1);
  },
  fill: function () {
    return this.drain();
  },
});
