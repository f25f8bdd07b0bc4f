function slice(text) {
  return text;
}

module.exports = {
  cut: slice,
  trim(text) {
    return slice(text);
  },
  join: (text) => slice(text),
  slice: () => 1,
};
