const extra = { shout() {} };

function Legacy() {}
Legacy.prototype.go = function () {
  this.shout();
  this.whisper();
};
Object.assign(Legacy.prototype, extra, { whisper() {} });

function counter() {
  return function tick() {
    tick();
  };
}
counter()();

module.exports = Legacy;
