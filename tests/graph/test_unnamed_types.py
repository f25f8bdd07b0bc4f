"""Classes without a name, and object literals that are declared with the type of an interface."""

import pytest

from cortex.graph.resolution.calling.targets import CANDIDATES_MAX
from tests.graph.test_truth import edge_lines, load

JAVA = """interface Factory { String make(int n); }
class Base { void stop() {} }
class Factories {
    Base held;
    static final Factory ZERO = new Factory() {
        public String make(int n) { return twice(n); }
        String twice(int n) { return "0"; }
    };
    Factory repeated(final Base s) {
        return new Factory() {
            @Override public String make(int n) { s.stop(); held.stop(); return this.make(n); }
        };
    }
    Base based() {
        use(new Base() { void run() { stop(); } });
        return new Base(start()) { int n = start(); };
    }
    int start() { return 1; }
    void use(Base base) {}
    enum Level implements Factory {
        LOW { public String make(int n) { return ""; } }, HIGH;
        public String make(int n) { return "1"; }
    }
}
"""
KOTLIN = """package f
interface Factory { fun make(n: Int): String }
open class Base(n: Int) { fun stop() {} }
val ZERO: Factory = object : Factory {
    override fun make(n: Int) = "0"
}
class Holder {
    val both = object : Base(1), Factory {
        override fun make(n: Int): String { stop(); return "" }
    }
}
fun repeated(s: Base): Factory = object : Factory {
    override fun make(n: Int): String { s.stop(); return "" }
}
"""
SCALA = """trait Factory { def make(n: Int): String }
class Base(n: Int) { def stop(): Unit = () }
object Factories {
  val zero: Factory = new Factory {
    def make(n: Int): String = "0"
  }
  def both(s: Base): Base = new Base(1) with Factory {
    def make(n: Int): String = { stop(); s.stop(); "" }
  }
}
"""
PHP = """<?php
interface Factory { public function make(int $n): string; }
class Base { public function stop() {} }
class Factories {
    public function repeated(Base $s): Factory {
        return new class($s) extends Base implements Factory {
            public function make(int $n): string { $this->stop(); return ''; }
        };
    }
}
"""
#: path → (text, edges that it must have)
UNNAMED = {
    "Factory.java": (
        JAVA,
        """
Factory:Factories.ZERO.Factory{} implements Factory:Factory [exact]
Factory:Factories.ZERO.Factory{}.make calls Factory:Factories.ZERO.Factory{}.twice [receiver]
Factory:Factories.repeated.Factory{} implements Factory:Factory [exact]
Factory:Factories.repeated.Factory{}.make calls Factory:Base.stop [receiver]
Factory:Factories.repeated.Factory{}.make calls Factory:Factories.repeated.Factory{}.make [receiver]
Factory:Factories.based.Base{} extends Factory:Base [exact]
Factory:Factories.based.Base{}~2 extends Factory:Base [exact]
Factory:Factories.based.Base{}.run calls Factory:Base.stop [receiver]
Factory:Factories.based calls Factory:Factories.start [receiver]
Factory:Factories.Level.LOW{} extends Factory:Factories.Level [exact]
""",
    ),
    "f/Factory.kt": (
        KOTLIN,
        """
f/Factory:ZERO.Factory{} implements f/Factory:Factory [exact]
f/Factory:Holder.both.Base{} extends f/Factory:Base [exact]
f/Factory:Holder.both.Base{} implements f/Factory:Factory [exact]
f/Factory:Holder.both.Base{}.make calls f/Factory:Base.stop [receiver]
f/Factory:repeated.Factory{} implements f/Factory:Factory [exact]
f/Factory:repeated.Factory{}.make calls f/Factory:Base.stop [receiver]
""",
    ),
    "Factory.scala": (
        SCALA,
        """
Factory:Factories.zero.Factory{} implements Factory:Factory [exact]
Factory:Factories.both.Base{} extends Factory:Base [exact]
Factory:Factories.both.Base{} implements Factory:Factory [exact]
Factory:Factories.both.Base{}.make calls Factory:Base.stop [receiver]
""",
    ),
    "Factory.php": (
        PHP,
        """
Factory:Factories.repeated.Base{} extends Factory:Base [exact]
Factory:Factories.repeated.Base{} implements Factory:Factory [exact]
Factory:Factories.repeated.Base{}.make calls Factory:Base.stop [receiver]
""",
    ),
}


@pytest.mark.parametrize("path", UNNAMED)
def test_an_unnamed_class_implements_its_bases_and_not_the_class_around_it(path):
    text, wanted = UNNAMED[path]
    lines = edge_lines(load({path: text}))
    assert {line for line in wanted.strip().splitlines() if line not in lines} == set()
    typed = {line for line in lines if " calls " not in line and "Level implements" not in line}
    assert typed == {line for line in wanted.strip().splitlines() if " calls " not in line}


LITERALS = {
    "factory.ts": (
        "export interface Factory { make(n: number): string }\n"
        "export interface Other { go(): void }\n"
        "export type Both = Factory & Other;\n"
    ),
    "a.ts": """import { Factory, Other } from './factory';

export const zero: Factory = { make(n) { return helper(); } };
export const checked = { make(n: number) { return ''; } } satisfies Factory;
export const cast = { make(n: number) { return ''; } } as Factory;
const plain = { make(n: number) { return ''; } };
const frozen = { make(n: number) { return ''; } } as const;
const data: Factory = JSON.parse('');
function helper() { return ''; }

export function repeated(s: string): Factory {
  return { make: (n) => s.repeat(n) };
}
export const arrow = (): Factory => ({ make(n) { return ''; } });
export async function later(): Promise<Factory> {
  const local: Other = { go() {} };
  local.go();
  return { make: (n) => '' };
}
export class Maker {
  build(): Other { return { go() {} }; }
  several(): Other[] { return [{ go() {} }]; }
}
""",
}

LITERAL_ARGUMENT = {
    "factory.ts": (
        "export interface Factory { make(n: number): string }\n"
        "export function use(name: string, f: Factory) { return f.make(1); }\n"
        "export function plain(name: string, f: string) {}\n"
        "export function all(...rest: Factory[]) {}\n"
        "export class Host { constructor(f: Factory) {}\n  add(f: Factory) {}\n}\n"
    ),
    "a.ts": """import { all, plain, use, Host } from './factory';
import { other } from 'elsewhere';

function f1() { use('a', { make(n) { return ''; } }); }
function f2() { new Host({ make: (n) => '' }); }
class Page {
  host = new Host(null);
  open() { this.host.add({ make: function (n) { return ''; } }); }
}
function f3() { all(null, { make: (n) => '' }); }
function n1() { plain('a', { make: (n) => '' }); }
function n2() { other({ make: (n) => '' }); }
function n3() { use('a', { size: 1 }); }
function n4() { use({ make: (n) => '' }, null); }
""",
}


def test_an_object_literal_implements_the_type_of_the_parameter_that_gets_it():
    lines = {line for line in edge_lines(load(LITERAL_ARGUMENT)) if " implements " in line}
    assert lines == {
        f"a:{name} implements factory:Factory [import]" for name in ("f1", "f2", "f3", "Page.open")
    }


def test_an_object_literal_implements_the_type_that_is_declared_for_it():
    lines = edge_lines(load(LITERALS))
    assert {line for line in lines if " implements " in line} == {
        "a:zero implements factory:Factory [import]",
        "a:checked implements factory:Factory [import]",
        "a:cast implements factory:Factory [import]",
        "a:repeated implements factory:Factory [import]",
        "a:arrow implements factory:Factory [import]",
        "a:later implements factory:Factory [import]",
        "a:later.local implements factory:Other [import]",
        "a:Maker.build implements factory:Other [import]",
    }
    assert "a:zero.make calls a:helper [exact]" in lines


def test_methods_of_unnamed_classes_do_not_push_a_call_over_the_bound_of_candidates():
    classes = "".join(f"class C{n} {{ void spin() {{}} }}\n" for n in range(CANDIDATES_MAX))
    unnamed = "class M { Object a = new C1() { void spin() {} }; }\n"
    lines = edge_lines(load({"A.java": f"{classes}{unnamed}class U {{ void run() {{ x.y().spin(); }} }}\n"}))
    (call,) = (line for line in lines if line.startswith("A:U.run calls"))
    assert call.count("|") == CANDIDATES_MAX - 1
    assert "{}" not in call
