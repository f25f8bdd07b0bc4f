import create, { Sink, reset } from "./index";
import text from "./lib/text";

const table = { run: () => reset(), later: reset, stop() {} };

export default function () {
  create();
  const sink = new Sink("d");
  sink.send(2);
  sink.fill();
  text.join("e");
  text.cut("f");
  text.slice("g");
  table.run();
  table.later();
  unknown.stop = () => 1;
  return require("./lib/app")();
}

test("x", () => ({ run: () => 1 }));
