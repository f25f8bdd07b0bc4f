module.exports = class Base {
  log(item) {
    return item;
  }

  rest = () => this.log(1);
};
