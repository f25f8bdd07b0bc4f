import kit from "./kit";

export class Page {
  show(kit2) {
    kit.isText("a");
    kit.isPlain("b");
    kit.soon();
    kit.made();
    kit2.isPlain("c");
    return later.call(this, 1);
  }
}

function later() {
  const kit = { isText: () => 1 };
  kit.isText(2);
  Page.prototype.show.apply(null, []);
}
