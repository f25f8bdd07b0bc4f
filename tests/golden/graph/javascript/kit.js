const typeOf = (type) => (thing) => typeof thing === type;
const isText = typeOf("text");
const isPlain = (thing) => isText(thing);

function late() {
  return isPlain(1);
}

export default { isText, isPlain, soon: late, made: () => 1 };
