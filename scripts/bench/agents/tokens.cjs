// The tokens of texts by o200k_base: a JSON list of strings on standard input -> a JSON list of counts.
const { encode } = require(process.argv[2] + "/gpt-tokenizer/cjs/encoding/o200k_base.js");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => encode(text, { disallowedSpecial: new Set() }).length)));
