"""Receivers in unusual forms: casts, companions, delegation in a class, variables with a method's
name; small projects in which a guess would be wrong.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

#: subject → (path, its text, lines and targets of all calls and references to methods)
CASES = {
    "casts in Java": (
        "A.java",
        (
            "class Disk { void save() {} }\nclass Tape { void save() {} void rewind() {} }\nclass A {\n  void f(Object x) {\n"
            "    ((Disk) x).save();\n    ((Tape) x).save();\n    ((Foreign) x).rewind();\n  }\n}\n"
        ),
        {(5, "A:Disk.save"), (6, "A:Tape.save")},
    ),
    "casts in TypeScript": (
        "a.ts",
        (
            "class Disk { save() {} }\nclass Tape { save() {} rewind() {} }\nfunction f(x: any) {\n  (x as Disk).save();\n"
            "  (<Tape>x).save();\n  (x as Request).rewind();\n  (x as any).rewind();\n}\n"
        ),
        {(4, "a:Disk.save"), (5, "a:Tape.save"), (7, "a:Tape.rewind")},
    ),
    "casts in C#": (
        "a.cs",
        (
            "class Disk { public void Save() {} }\nclass Tape { public void Save() {} }\nclass A {\n  void F(object x) {\n"
            "    ((Disk)x).Save();\n    (x as Tape).Save();\n  }\n}\n"
        ),
        {(5, "a:Disk.Save"), (6, "a:Tape.Save")},
    ),
    "casts in Kotlin": (
        "a.kt",
        "class Disk {\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\nfun f(x: Any) {\n  (x as Disk).save()\n}\n",
        {(8, "a:Disk.save")},
    ),
    "casts in Swift": (
        "a.swift",
        "class Disk { func save() {} }\nclass Tape { func save() {} }\nfunc f(x: Any) {\n  (x as! Disk).save()\n}\n",
        {(4, "a:Disk.save")},
    ),
    "type assertions in Go": (
        "a.go",
        (
            "package a\ntype Disk struct{}\nfunc (d *Disk) Save() {}\ntype Tape struct{}\nfunc (t Tape) Save() {}\n"
            "func f(x any) {\n\tx.(*Disk).Save()\n\tx.(Tape).Save()\n}\n"
        ),
        {(7, "a:Disk.Save"), (8, "a:Tape.Save")},
    ),
    "casts in C++": (
        "a.cpp",
        "struct Disk { void save() {} };\nstruct Tape { void save() {} };\nvoid f(void* x) {\n  ((Disk*) x)->save();\n}\n",
        {(4, "a:Disk.save")},
    ),
    "what a Ruby class hands on": (
        "a.rb",
        (
            "class Store\n  def save(x)\n  end\n  def drop(x)\n  end\nend\nclass Other\n  def save(x)\n  end\n  def drop(x)\n  end\nend\n"
            "class Repo\n  attr_reader :store; delegate :save, to: :store\n  def_delegators :@store, :drop\n  def initialize\n    @store = Store.new\n"
            "  end\n  def run\n    save(1)\n  end\nend\nclass App\n  def go\n    repo = Repo.new\n    repo.save(1)\n    repo.drop(2)\n  end\nend\n"
        ),
        {
            (14, "a:Repo.store, a value"),
            (20, "a:Store.save"),
            (26, "a:Store.save"),
            (27, "a:Store.drop"),
        },
    ),
    "methods that a Ruby class delegates to its method's result": (
        "a.rb",
        (
            "class Store\n  def save(x)\n  end\nend\nclass Other\n  def save(x)\n  end\nend\n"
            "class Repo\n  delegate :save, to: :store\n  def store\n    Store.new\n  end\n  def run\n    save(1)\n  end\nend\n"
        ),
        {(10, "a:Repo.store, a value"), (15, "a:Store.save")},
    ),
    "a class after its object in Scala": (
        "a.scala",
        (
            "package p\nobject Disk {\n  def make(): Disk = new Disk\n}\nclass Disk { def save(): Unit = {} }\n"
            "class User {\n  def run() = {\n    Disk.make().save()\n  }\n}\n"
        ),
        {(3, "a:Disk~2"), (8, "a:Disk.make"), (8, "a:Disk.save")},
    ),
    "a class before its object in Scala": (
        "a.scala",
        "package p\nclass Disk { def save(): Unit = {} }\nobject Disk {\n  def make(): Disk = new Disk\n}\n",
        {(4, "a:Disk")},
    ),
    "default methods of a Swift protocol": (
        "a.swift",
        (
            "protocol Store { func save() }\nextension Store {\n  func reset() { save() }\n}\nclass Other { func reset() {} }\n"
            "struct Disk: Store { func save() {} }\nfunc run(d: Disk) {\n  d.reset()\n}\n"
        ),
        {(3, "a:Store.save"), (8, "a:Store.reset")},
    ),
    "companions in Kotlin": (
        "a.kt",
        (
            "class Disk {\n  companion object {\n    fun make(): Disk = TODO()\n  }\n  fun save() {}\n}\nclass Tape {\n  fun save() {}\n}\n"
            "fun run() {\n  Disk.make().save()\n}\n"
        ),
        {(11, "a:Disk.make"), (11, "a:Disk.save")},
    ),
    "a variable with a method's name in Kotlin": (
        "a.kt",
        (
            "class Disk {\n  fun count(): Int = 1\n  fun total(count: Int): Int = count() + count\n"
            "  fun other(count: () -> Int): Int = count()\n}\n"
        ),
        {(3, "a:Disk.count")},
    ),
    "selectors in Swift": (
        "a.swift",
        (
            "class Page {\n  func go() {\n    add(#selector(tap))\n    add(#selector(Page.tap))\n    add(#selector(tap(_:)))\n  }\n"
            "  @objc func tap() {}\n}\n"
        ),
        {(3, "a:Page.tap, a value"), (4, "a:Page.tap, a value"), (5, "a:Page.tap, a value")},
    ),
    "functions by a text in PHP": (
        "a.php",
        (
            "<?php\nnamespace App;\nfunction cut($x) {}\nclass Disk { static function save($x) {} }\nfunction run($x) {\n"
            "  array_map('App\\cut', $x);\n  array_map(\"App\\\\Disk::save\", $x);\n  label('App\\cut');\n  usort($x, 'cut');\n}\n"
        ),
        {(6, "a:cut, a value"), (7, "a:Disk.save, a value")},
    ),
    "what Go's new and make give": (
        "a.go",
        (
            "package a\ntype Disk struct{}\nfunc (d *Disk) Save() *Disk { return d }\nfunc (d *Disk) Load() {}\n"
            "type Tape struct{}\nfunc (t *Tape) Save() *Tape { return t }\nfunc (t *Tape) Load() {}\n"
            "type Box struct{ disk *Disk }\nfunc f() {\n\tnew(Disk).Save().Load()\n\tone := new(Tape)\n\tone.Load()\n"
            "\tbox := &Box{disk: new(Disk)}\n\tbox.disk.Load()\n\tmany := make(map[string]*Tape)\n"
            '\tmany["a"].Load()\n\tnew(foreign.Disk).Load()\n}\n'
        ),
        {
            (10, "a:Disk.Save"),
            (10, "a:Disk.Load"),
            (12, "a:Tape.Load"),
            (14, "a:Disk.Load"),
            (16, "a:Tape.Load"),
        },
    ),
    "what a Go file's own new gives": (
        "a.go",
        (
            "package a\ntype Disk struct{}\nfunc (d *Disk) Save() {}\ntype Tape struct{}\nfunc (t *Tape) Save() {}\n"
            "func new(name string, size int) *Tape { return nil }\nfunc f(name string) {\n\tnew(name, 3).Save()\n}\n"
        ),
        {(8, "a:new"), (8, "a:Tape.Save")},
    ),
    "properties with setters in Python": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\nclass A:\n    @property\n"
            "    def disk(self) -> Disk: ...\n    @disk.setter\n    def disk(self, value): ...\n    def run(self):\n"
            "        self.disk.save()\n"
        ),
        {(11, "a:Disk.save")},
    ),
    "getters in TypeScript": (
        "a.ts",
        (
            "class Disk { save() {} }\nclass Tape { save() {} }\nclass A {\n  get one(): Disk { return null as any; }\n"
            "  get two() { return new Tape(); }\n  set two(x: Tape) {}\n  three(): Disk { return null as any; }\n"
            "  static get four(): Tape { return null as any; }\n  run() {\n    this.one.save();\n    this.two.save();\n"
            "    this.three().save();\n    A.four.save();\n  }\n}\n"
        ),
        {
            (5, "a:Tape"),
            (10, "a:Disk.save"),
            (11, "a:A.two"),
            (11, "a:Tape.save"),
            (12, "a:A.three"),
            (12, "a:Disk.save"),
            (13, "a:Tape.save"),
        },
    ),
    "PHP's documented properties and variables": (
        "a.php",
        (
            "<?php\nnamespace App;\nclass Disk { function save() {} }\nclass Tape { function save() {} }\nclass A {\n"
            "  /**\n   * The disks.\n   * @var array<int, Disk>|null\n   */\n  protected array $disks = [];\n"
            "  /** @var Tape */\n  protected $tape;\n  /** @var Disk a lie */\n  private Tape $declared;\n"
            "  private $unknown;\n  function run($all) {\n    foreach ($this->disks as $at => $disk) {\n      $disk->save();\n"
            "    }\n    $this->tape->save();\n    $this->declared->save();\n    $this->unknown->save();\n"
            "    /** @var Tape[] $all */\n    foreach ($all as $one) {\n      $one->save();\n    }\n"
            "    /** @var Disk $two */\n    foreach (tapes() as $two) {\n      $two->save();\n    }\n"
            "    /** @var Tape */\n    $three = make();\n    $three->save();\n    $four = make();\n    $four->save();\n"
            "    $three = new Disk();\n    $three->save();\n  }\n}\n"
        ),
        {
            (18, "a:Disk.save"),
            (20, "a:Tape.save"),
            (21, "a:Tape.save"),
            (22, ""),
            (25, "a:Tape.save"),
            (29, "a:Disk.save"),
            (33, "a:Tape.save"),
            (35, ""),
            (36, "a:Disk"),
            (37, "a:Disk.save"),
        },
    ),
    "instanceof in PHP": (
        "a.php",
        (
            "<?php\nclass Disk { function save() {} }\nclass Tape { function save() {} }\nfunction run($x, $y, $z) {\n"
            "  if ($x instanceof Disk) {\n    $x->save();\n  } elseif ($x instanceof Tape) {\n    $x->save();\n  }\n"
            "  $x->save();\n  if ($x instanceof Tape && $x->save()) {\n    $x->save();\n  }\n"
            "  if (!$y instanceof Disk) {\n    return;\n  }\n  $y->save();\n"
            "  return $z instanceof Tape ? $z->save() : $z->save();\n}\n"
        ),
        {
            (6, "a:Disk.save"),
            (8, "a:Tape.save"),
            (10, ""),
            (11, "a:Tape.save"),
            (12, "a:Tape.save"),
            (17, "a:Disk.save"),
            (18, "a:Tape.save"),
            (18, ""),
        },
    ),
    "one of two values": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\n    def wind(self): ...\n"
            "class User:\n    def __init__(self, one):\n        self.one = one or Disk()\n"
            "    def run(self, x, y):\n        self.one.save()\n        (x or Tape()).save()\n        (x + Disk()).save()\n"
            "        z = Tape() if x else y\n        z.wind()\n        (Tape() if x else Disk()).save()\n        made(1).save()\n"
            "def made(x):\n    if x:\n        return x\n    return Disk()\n"
        ),
        {
            (8, "a:Disk"),
            (10, "a:Disk.save"),
            (11, "a:Tape"),
            (11, "a:Tape.save"),
            (12, "a:Disk"),
            (13, "a:Tape"),
            (14, "a:Tape.wind"),
            (15, "a:Tape"),
            (15, "a:Disk"),
            (15, ""),
            (16, "a:made"),
            (16, "a:Disk.save"),
            (20, "a:Disk"),
        },
    ),
    "one of two values in a script": (
        "a.ts",
        (
            "class Disk { static from(x) { return x instanceof this ? x : new this(x); } same() { return this; } save() {} }\n"
            "class Tape { save() {} }\nfunction f(o) {\n  Disk.from(o).same().save();\n  (o.x || new Tape()).save();\n"
            "  const k = o.y ?? new Disk();\n  k.save();\n}\n"
        ),
        {
            (1, "a:Disk"),
            (4, "a:Disk.from"),
            (4, "a:Disk.same"),
            (4, "a:Disk.save"),
            (5, "a:Tape"),
            (5, "a:Tape.save"),
            (6, "a:Disk"),
            (7, "a:Disk.save"),
        },
    ),
    "tests of a field in Python, and of a name with an early exit": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\nclass User:\n"
            "    def __init__(self, one): self.one = one\n    def run(self, x, y):\n        if isinstance(self.one, Disk):\n"
            "            self.one.save()\n        elif isinstance(self.one, Tape):\n            self.one.save()\n"
            "        isinstance(x, Disk) and x.save()\n        x.save() if isinstance(x, Tape) else None\n"
            "        if not isinstance(y, Disk):\n            return\n        y.save()\n"
        ),
        {
            (8, "a:Disk, a value"),
            (10, "a:Tape, a value"),
            (12, "a:Disk, a value"),
            (13, "a:Tape, a value"),
            (14, "a:Disk, a value"),
            (9, "a:Disk.save"),
            (11, "a:Tape.save"),
            (12, "a:Disk.save"),
            (13, "a:Tape.save"),
            (16, "a:Disk.save"),
        },
    ),
    "tests of a field in TypeScript, and of a name with an early exit": (
        "a.ts",
        (
            "class Disk { save() {} }\nclass Tape { save() {} }\nclass User {\n  one: any;\n  run(x, y) {\n"
            "    if (this.one instanceof Disk) this.one.save();\n    else if (this.one instanceof Tape) { this.one.save(); }\n"
            "    x instanceof Disk && x.save();\n    x instanceof Tape ? x.save() : null;\n"
            "    if (!(y instanceof Disk)) return;\n    y.save();\n  }\n}\n"
        ),
        {
            (6, "a:Disk.save"),
            (7, "a:Tape.save"),
            (8, "a:Disk.save"),
            (9, "a:Tape.save"),
            (11, "a:Disk.save"),
        },
    ),
    "tests of a property in PHP, and static ones": (
        "a.php",
        (
            "<?php\ninterface One {}\nclass Disk { function save() {} }\nclass Tape { function save() {} }\nclass User {\n"
            "  static ?Tape $two; private One $one;\n  function run() {\n    if ($this->one instanceof Disk) { $this->one->save(); }\n"
            "    self::$two->save();\n    $x = static::$two ?? $y;\n    $x->save();\n  }\n}\n"
        ),
        {(8, "a:Disk.save"), (9, "a:Tape.save"), (11, "a:Tape.save")},
    ),
    "elements with their numbers and keys in Python": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\n"
            "def run(all: list[Disk], named: dict[str, Tape]):\n    for i, one in enumerate(all):\n        one.save()\n"
            "    for key, one in named.items():\n        one.save()\n    return [one.save() for i, one in enumerate(all)]\n"
        ),
        {(7, "a:Disk.save"), (9, "a:Tape.save"), (10, "a:Disk.save")},
    ),
    "a class's method before an interface's in PHP": (
        "a.php",
        (
            "<?php\ninterface Saver { function save(); }\ntrait Saves { function save() {} }\nclass Above { function save() {} }\n"
            "class Disk extends Above implements Saver { use Saves; }\nclass Tape extends Above implements Saver {}\n"
            "function run(Disk $disk, Tape $tape) {\n  $disk->save();\n  $tape->save();\n}\n"
        ),
        {(8, "a:Saves.save"), (9, "a:Above.save")},
    ),
    "a class's own methods and those of its instances in Ruby": (
        "a.rb",
        (
            "class Disk\n  class << self\n    def save(x)\n      new.save(x)\n    end\n  end\n  def self.load(x)\n    save(x)\n"
            "  end\n  def save(x)\n    keep(x)\n  end\n  def keep(x)\n    save(x)\n  end\nend\nDisk.save(1)\n"
        ),
        {
            (4, "a:Disk"),
            (4, "a:Disk.save~2"),
            (8, "a:Disk.save"),
            (11, "a:Disk.keep"),
            (14, "a:Disk.save~2"),
            (17, "a:Disk.save"),
        },
    ),
    "what Ruby keeps once, and names that are calls": (
        "a.rb",
        (
            "class Disk\n  def self.build(x)\n    one = new\n    one.freeze\n  end\n  def save(x)\n  end\nend\n"
            "class Tape\n  def save(x)\n  end\nend\nclass User\n  def run(x)\n    tape.save(1)\n    Disk.build(2).save(x)\n"
            "  end\n  def tape\n    @tape ||= Tape.new\n  end\nend\n"
        ),
        {
            (3, "a:Disk"),
            (15, "a:User.tape"),
            (15, "a:Tape.save"),
            (16, "a:Disk.build"),
            (16, "a:Disk.save"),
            (19, "a:Tape"),
        },
    ),
    "what Ruby's modules give to a class with a base from outside": (
        "a.rb",
        (
            "class Check < Outside::Test\n  def run\n    assert_shown(3)\n    only_here(4)\n  end\nend\nmodule Asserts\n"
            "  def assert_shown(x)\n  end\nend\nclass Plain\n  def only_here(x)\n  end\n  def run\n    assert_shown(1)\n  end\nend\n"
        ),
        {(3, "a:Asserts.assert_shown")},
    ),
    "one of two values, before and after a name means another": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\ndef run(y):\n    x = Disk()\n"
            "    (x or y).save()\n    x = Tape()\n    (x or y).save()\n"
        ),
        {(6, "a:Disk"), (7, "a:Disk.save"), (8, "a:Tape"), (9, "a:Tape.save")},
    ),
    "a test that holds to the end of its branch": (
        "a.py",
        (
            "class Disk:\n    def save(self): ...\nclass Tape:\n    def save(self): ...\ndef run(x: Disk, y):\n    if y:\n"
            "        if not isinstance(x, Tape):\n            return\n        x.save()\n    x.save()\n"
            "    with y:\n        assert isinstance(x, Tape)\n    x.save()\n"
        ),
        {
            (7, "a:Tape, a value"),
            (12, "a:Tape, a value"),
            (9, "a:Tape.save"),
            (10, "a:Disk.save"),
            (13, "a:Tape.save"),
        },
    ),
    "a test that holds to the end of its branch in PHP": (
        "a.php",
        (
            "<?php\nclass Disk { function save() {} }\nclass Tape { function save() {} }\nfunction run(Disk $x, $y) {\n"
            "  if ($y) {\n    if (!$x instanceof Tape) { return; }\n    $x->save();\n  }\n  $x->save();\n}\n"
        ),
        {(7, "a:Tape.save"), (9, "a:Disk.save")},
    ),
    "one name for two variables that are passed in Java": (
        "A.java",
        (
            "class A {\n  void put(String x) {}\n  void put(Integer x) {}\n  void run(String[] some, Integer[] more) {\n"
            "    for (String x : some) { put(x); }\n    for (Integer x : more) { put(x); }\n  }\n}\n"
        ),
        {(5, "A:A.put"), (6, "A:A.put~2")},
    ),
    "an object before many texts, and before a number that is unboxed, in Java": (
        "A.java",
        (
            "class A {\n  void put(String x, Object y) {}\n  void put(String x, String... y) {}\n  void add(long x) {}\n"
            '  void add(Object x) {}\n  void run(Long x) {\n    put("a", "b");\n    put("a", "b", "c");\n    add(x);\n'
            "    add(1);\n  }\n}\n"
        ),
        {(7, "A:A.put"), (8, "A:A.put~2"), (9, "A:A.add~2"), (10, "A:A.add")},
    ),
    "a class's own method and one of its base's that takes more, by the bare name, in Java": (
        "A.java",
        (
            "class Base { void save(int x, int y) {} }\nclass Disk extends Base {\n  void save(String x) {}\n"
            '  void run() {\n    save("a");\n    save(1, 2);\n  }\n}\n'
        ),
        {(5, "A:Disk.save"), (6, "A:Base.save")},
    ),
    "a final class in capitals in C++": (
        "a.cpp",
        "class JSON final {\npublic:\n  void save() {}\n};\nvoid run(JSON& x) {\n  x.save();\n}\n",
        {(6, "a:JSON.save")},
    ),
    "a function that is called at once, and its result, in JavaScript": (
        "a.js",
        "const kind = (cache => x => cache[x])({});\nconst old = outside.wrap(1);\nfunction run() {\n  kind(1);\n  old(2);\n}\n",
        {(4, "a:kind"), (5, "a:old")},
    ),
    "either of two objects in JavaScript": (
        "a.js",
        (
            "const store = small ? { save() {} } : { save() {}, drop() {} };\nfunction run() {\n  store.save();\n"
            "  store.drop();\n}\n"
        ),
        {(3, "a:store.save~2"), (4, "a:store.drop")},
    ),
    "an element of an object of functions in TypeScript": (
        "a.ts",
        "const all = { one: () => 1, two: () => 2 };\nfunction run(x: string) {\n  const one = all[x];\n  one();\n}\n",
        set(),
    ),
    "a value that can be called by its type in TypeScript": (
        "a.ts",
        (
            "class Disk { save() {} }\ninterface Find { (name: string): Disk; last: Disk }\n"
            "type Make = { (x: number): Disk };\nlet find: Find;\nconst make: Make = other();\nfunction run() {\n"
            "  find('a').save();\n  make(1).save();\n  find.last.save();\n}\n"
        ),
        {
            (7, "a:find"),
            (7, "a:Disk.save"),
            (8, "a:make"),
            (8, "a:Disk.save"),
            (9, "a:Disk.save"),
        },
    ),
    "a constant and fields that are declared to hold functions in TypeScript": (
        "a.ts",
        (
            "class Disk { save() {} }\nexport const make: (x: number) => Disk = other();\ninterface Box { of: () => Disk }\n"
            "class Shelf { top: () => Disk; }\nfunction run(box: Box, shelf: Shelf) {\n  make(1).save();\n"
            "  box.of().save();\n  shelf.top().save();\n}\n"
        ),
        {
            (6, "a:make"),
            (6, "a:Disk.save"),
            (7, "a:Box.of"),
            (7, "a:Disk.save"),
            (8, "a:Shelf.top"),
            (8, "a:Disk.save"),
        },
    ),
    "another name for a type, and for two, in TypeScript": (
        "a.ts",
        (
            "interface Disk { save(): void }\ninterface Tape { wind(): void }\ntype Store = Disk;\n"
            "type Both = Store & Tape;\nfunction run(one: Store, both: Both) {\n  one.save();\n  both.save();\n"
            "  both.wind();\n}\n"
        ),
        {(6, "a:Disk.save"), (7, "a:Disk.save"), (8, "a:Tape.wind")},
    ),
    "a function beside a name space of its name in TypeScript": (
        "a.ts",
        (
            "export function check(x: number) {}\nexport namespace check {\n  export function deep(x: number) {}\n}\n"
            "function run() {\n  check(1);\n  check.deep(2);\n}\n"
        ),
        {(6, "a:check"), (7, "a:check.deep")},
    ),
    "signatures of one method on an unknown receiver in TypeScript": (
        "a.ts",
        "interface Disk {\n  stow(): void;\n  stow(x: number): void;\n}\nfunction run(x: any) {\n  x.y.stow();\n}\n",
        {(6, "a:Disk.stow~2")},
    ),
    "methods in the branches of a condition in Python": (
        "a.py",
        (
            "class Disk:\n    if TYPE_CHECKING:\n        def save(self) -> 'Disk': ...\n    else:\n        def save(self): ...\n"
            "    def drop(self): ...\ndef run(disk: Disk):\n    disk.save().drop()\n"
        ),
        {(8, "a:Disk.save"), (8, "a:Disk.save~2"), (8, "a:Disk.drop")},
    ),
    "a function that another language's may replace in Python": (
        "a.py",
        "def save(): ...\ntry:\n    from ._fast import save\nexcept ImportError:\n    pass\ndef run():\n    save()\n",
        {(7, "a:save")},
    ),
    "a name space that holds another one alone, in C++": (
        "a.cpp",
        (
            "namespace shop::store { struct Disk { void save() {} }; void run() {} }\nusing D = shop::store::Disk;\n"
            "void f(shop::store::Disk& x, D& y) {\n  x.save();\n  y.save();\n  shop::store::run();\n}\n"
        ),
        {(4, "a:shop.store.Disk.save"), (5, "a:shop.store.Disk.save"), (6, "a:shop.store.run")},
    ),
    "what a closure that a name is given takes, in Rust": (
        "a.rs",
        (
            "struct Disk; impl Disk { fn save(&self) {} }\nstruct Tape; impl Tape { fn save(&self) {} }\n"
            "fn f(x: Disk) {\n  let g = |x| x.save();\n  let h = |y| x.save();\n  let x = x.save();\n}\n"
        ),
        {(4, ""), (5, "a:Disk.save"), (6, "a:Disk.save")},
    ),
}


#: types that calls construct; the tests are about the receivers of other calls
_CONSTRUCTED = {"a:Repo", "a:Store"}


@pytest.mark.parametrize("case", CASES)
def test_calls_lead_to_members_of_the_receivers_type(case):
    path, text, wanted = CASES[case]
    raw = text.encode()
    project = Project(LANGUAGES)
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    targets = {
        (edge.location.line, edge.target + ", a value" * (edge.type == "references"))
        for edge in edges_of(project, Evaluator(project), path)
        if edge.type in ("calls", "references") and edge.target not in _CONSTRUCTED
    }
    assert targets == wanted
