import { loader, type Shelf } from "./load";

const load = loader(null as any);

describe("a shelf", () => {
  let $: Shelf;
  beforeEach(() => {
    $ = load("x");
  });
  it("is found in a block", () => {
    const $disk = $("one");
    $disk.keep().turn(1).size().begin();
    $.label();
    $.load("y").clean();
  });
});
