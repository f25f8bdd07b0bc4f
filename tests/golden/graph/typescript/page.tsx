import { Client, search, Base } from "./lib";
import * as lib from "./lib";
import { lookup } from "./other";

export function Page(props: { id: string }) {
  const client = Client.make();
  client.load(props.id);
  client.touch();
  search("x");
  lib.search("y");
  lookup("z");
  return <Row id={props.id} />;
}

function Row({ id }: { id: string }) {
  const search = (q: string) => q;
  search(id);
  return null;
}

class Mine extends Base {
  load(id: string) {
    super.touch();
    return new Client(null as any).again();
  }
}
