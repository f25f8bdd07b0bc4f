"""Targets of Rust calls: imported enum variants, type aliases, and fields from patterns."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest
from tests.graph.small_graphs import calls_in, project_of

DISK = (
    "pub struct Pool;\nimpl Pool { pub fn count(&self) {} }\npub struct Disk { pub pool: Pool, pub slot: Pool }\n"
    "impl Disk { pub fn open() {} }\npub enum Side { Left(u8), Right(u8) }\npub fn both() {}\n"
)
LIB = "mod disk;\npub mod app;\npub use disk::Side;\npub use disk::*;\n"
#: subject → (src/app.rs, lines and targets of its calls and of its references to functions)
CASES = {
    "variants of an enum that the root gives on": (
        "use crate::Side::*;\nfn run(side: Side) {\n  match side {\n    Left(n) => Right(n),\n    Right(n) => Left(n),\n  };\n}\n",
        {
            (4, "src/disk:Side.Left"),
            (4, "src/disk:Side.Right"),
            (5, "src/disk:Side.Left"),
            (5, "src/disk:Side.Right"),
        },
    ),
    "some variants by their names": (
        "fn run(side: crate::Side) {\n  use crate::Side::{Left, Right};\n  if let Left(n) = side { Right(n); }\n}\n",
        {(3, "src/disk:Side.Left"), (3, "src/disk:Side.Right")},
    ),
    "a function that everything is imported of, beside a method of its name": (
        "use crate::*;\ntrait Shop { fn both(self); }\nimpl Shop for u8 {\n  fn both(self) {\n    both();\n  }\n}\n",
        {(5, "src/disk:both")},
    ),
    "another name of a type": (
        "use crate::disk::Disk;\ntype Other = Disk;\nfn run() {\n  Other::open();\n}\n",
        {(4, "src/disk:Disk.open")},
    ),
    "a type of its own that has a container's name": (
        (
            "use crate::disk::Pool;\nstruct List<T> { head: Option<T> }\nimpl<T> List<T> {\n  fn new() -> Self { List { head: None } }\n"
            "  fn push(&self) {}\n}\nstruct Shelf { all: List<Pool> }\nimpl Shelf {\n  fn run(&self) {\n    self.all.push();\n"
            "    let made: List<Pool> = List::new();\n    made.push();\n  }\n}\n"
        ),
        {(4, "src/app:List"), (10, "src/app:List.push"), (11, "src/app:List.new"), (12, "src/app:List.push")},
    ),
    "what Some and Ok hold in a match": (
        (
            "use crate::disk::Pool;\nfn run(one: Option<Pool>, mut two: Option<Pool>) {\n  match one {\n    Some(p) => p.count(),\n"
            "    None => {}\n  }\n  if let Some(ref mut p) = two { p.count(); }\n}\n"
        ),
        {(4, "src/disk:Pool.count"), (7, "src/disk:Pool.count")},
    ),
    "fields that a pattern takes out": (
        (
            "use crate::disk::{Disk, Pool};\nfn run(disk: Disk, other: Disk) {\n  let Disk { pool, .. } = disk;\n  pool.count();\n"
            "  match other {\n    Disk { slot: held, .. } => held.count(),\n  }\n  if let Disk { slot, .. } = other { slot.count(); }\n}\n"
        ),
        {(4, "src/disk:Pool.count"), (6, "src/disk:Pool.count"), (8, "src/disk:Pool.count")},
    ),
    "what a type acts as": (
        (
            "use crate::disk::Disk;\nstruct Padded<T> { value: T }\nimpl<T> Deref for Padded<T> {\n  type Target = T;\n"
            "  fn deref(&self) -> &T { &self.value }\n}\nstruct Guard { disk: Disk }\nimpl Deref for Guard {\n  type Target = Disk;\n"
            "  fn deref(&self) -> &Self::Target { &self.disk }\n}\nimpl Guard { fn lock(&self) {} }\nstruct Held { value: Padded<Disk> }\n"
            "fn run(guard: Guard, held: Held) {\n  guard.pool.count();\n  guard.lock();\n  held.value.pool.count();\n}\n"
        ),
        {(15, "src/disk:Pool.count"), (16, "src/app:Guard.lock"), (17, "src/disk:Pool.count")},
    ),
    "what a variant holds": (
        (
            "use crate::disk::{Disk, Pool};\nenum Slot { Pool(Pool), Both(u8, Padded<Disk>), None }\nstruct Padded<T> { value: T }\n"
            "impl<T> Deref for Padded<T> { fn deref(&self) -> &T { &self.value } }\nstruct Own(u8, Pool);\n"
            "fn run(slot: Slot, own: Own) {\n  match slot {\n    Slot::Pool(pool) => pool.count(),\n"
            "    Slot::Both(_, ref disk) => disk.pool.count(),\n    Slot::Both(.., x) => x.count(),\n    _ => {}\n  }\n"
            "  if let Own(_, pool) = own {\n    pool.count();\n  }\n}\n"
        ),
        {
            (8, "src/app:Slot.Pool"),
            (8, "src/disk:Pool.count"),
            (9, "src/app:Slot.Both"),
            (9, "src/disk:Pool.count"),
            (10, "src/app:Slot.Both"),
            (14, "src/disk:Pool.count"),
        },
    ),
    "types that act as each other": (
        (
            "struct A;\nstruct B;\nimpl Deref for A { fn deref(&self) -> &B { &B } }\nimpl Deref for B { fn deref(&self) -> &A { &A } }\n"
            "impl B { fn save(&self) {} }\nfn run(a: A) {\n  a.save();\n  a.nothing();\n}\n"
        ),
        {(7, "src/app:B.save")},
    ),
    "an associated type, a static and a block that is unsafe": (
        (
            "use crate::disk::Pool;\nstruct Walk;\nimpl Iterator for Walk {\n  type Item = Pool;\n"
            "  fn next(&mut self) -> Option<Self::Item> { None }\n}\nstatic GLOBAL: Pool = Pool;\nfn run(mut walk: Walk) {\n"
            "  static OWN: Pool = Pool;\n  OWN.count();\n  GLOBAL.count();\n  let pool = unsafe { walk.next() };\n"
            "  pool.unwrap().count();\n}\n"
        ),
        {
            (10, "src/disk:Pool.count"),
            (11, "src/disk:Pool.count"),
            (12, "src/app:Walk.next"),
            (13, "src/disk:Pool.count"),
        },
    ),
    "a field, and the method of its name": (
        (
            "use crate::disk::Pool;\nstruct Shelf { pool: Pool, each: fn(u8) }\nimpl Shelf {\n  fn pool(mut self, pool: Pool) -> Self { self }\n"
            "  fn each(&self) {}\n  fn run(self) {\n    self.pool.count();\n    self.each();\n    (self.each)(1);\n    self.pool(Pool).pool.count();\n  }\n}\n"
        ),
        {
            (7, "src/disk:Pool.count"),
            (8, "src/app:Shelf.each"),
            (10, "src/app:Shelf.pool"),
            (10, "src/disk:Pool.count"),
        },
    ),
    "a method of a trait that the call names": (
        (
            "use crate::disk::Disk;\ntrait Shop { fn both(&self) -> Disk; }\nimpl Shop for Disk { fn both(&self) -> Disk { Disk } }\n"
            "impl Shop for String { fn both(&self) -> Disk { Disk } }\nfn run<T: Shop>(t: T, d: Disk) {\n  <T as Shop>::both(&t).pool.count();\n"
            "  <Disk as crate::app::Shop>::both(&d);\n  <Disk>::open();\n  <T as Other>::both(&t);\n}\n"
        ),
        {
            (6, "src/app:Shop.both"),
            (6, "src/disk:Pool.count"),
            (7, "src/app:Shop.both"),
            (8, "src/disk:Disk.open"),
        },
    ),
    "what a method returns of a trait that the call names": (
        (
            "use crate::disk::{Disk, Pool};\ntrait Shop { fn made() -> Self; }\nimpl Shop for Pool { fn made() -> Self { Pool } }\n"
            "impl Default for Pool { fn default() -> Self { Pool } }\nfn run(d: Disk) {\n  <Pool as Shop>::made().count();\n"
            "  let pool = <Pool as Default>::default();\n  pool.count();\n}\n"
        ),
        {
            (6, "src/app:Shop.made"),
            (6, "src/disk:Pool.count"),
            (8, "src/disk:Pool.count"),
        },
    ),
    "what a macro of its own is written with": (
        (
            "fn late() {}\nmacro_rules! own {\n  ($x:expr) => {{\n    $crate::disk::both($x);\n    $crate::disk::Disk::open();\n    late();\n"
            "    crate::disk::both();\n    all($crate::disk::both, late);\n    $x::both();\n    $x.late();\n  }};\n}\n"
        ),
        {
            (4, "src/disk:both"),
            (5, "src/disk:Disk.open"),
            (6, "src/app:late"),
            (7, "src/disk:both"),
            (8, "src/disk:both"),
            (8, "src/app:late"),
        },
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_calls_lead_to_the_right_definitions(what):
    text, expected = CASES[what]
    files = {"src/lib.rs": LIB, "src/disk.rs": DISK, "src/app.rs": text}
    project = Project(LANGUAGES)
    project.update(
        {path: facts_of(decode(path, text.encode()), digest(text.encode())) for path, text in files.items()}
    )
    edges = edges_of(project, Evaluator(project), "src/app.rs")
    targets = {(edge.location.line, edge.target) for edge in edges if edge.type in ("calls", "references")}
    assert targets == expected


def test_a_called_variable_is_no_module_of_the_crate():
    texts = {
        "src/lib.rs": "mod b;\nstruct Disk;\nfn run(f: Disk) {\n    f();\n}\n",
        "src/b.rs": "pub fn f() {}\n",
    }
    assert not calls_in(project_of(texts), "src/lib.rs")


def test_macros_define_types():
    text = (
        "bitflags! {\n    pub struct Flags: u32 { const READ = 1; }\n}\n"
        "macro_rules! id_type {\n    ($(#[$a:meta])* $name:ident, $t:ty) => { pub struct $name($t); };\n}\n"
        "macro_rules! log { ($name:ident) => { print($name) }; }\n"
        "id_type!(UserId, u64);\nlog!(other);\n"
        "mod inner { crate::id_type! { OrderId, u8 } }\n"
        "fn run(flags: Flags, user: UserId) { quote! { struct Quoted; } }\n"
    )
    project = project_of({"src/lib.rs": text})
    types = [d for d in project.index("src/lib.rs").facts.definitions if d.kind == "struct"]
    assert [(d.qualified, d.start_line, d.end_line) for d in types] == [
        ("Flags", 1, 3),
        ("UserId", 8, 8),
        ("inner.OrderId", 10, 10),
    ]
    edges = edges_of(project, Evaluator(project), "src/lib.rs")
    assert {edge.target for edge in edges if edge.type == "uses_type"} == {"src/lib:Flags", "src/lib:UserId"}


@pytest.mark.parametrize(
    "facade", ["pub use a::*;\npub use d::{self, Paint};\n", "pub use d::Paint;\npub use a::*;\n"]
)
def test_a_derive_macro_hides_no_trait_of_its_name(facade):
    texts = {
        "a/src/lib.rs": "pub trait Paint { fn paint(&self); }\n",
        "d/src/lib.rs": "#[proc_macro_derive(Paint)]\npub fn paint(input: TokenStream) -> TokenStream { input }\n",
        "f/src/lib.rs": facade,
        "b/src/lib.rs": "use f::Paint;\nstruct Wall;\nimpl Paint for Wall { fn paint(&self) {} }\nfn run(w: Wall) { w.paint(); Paint::paint(&w); }\n",
    }
    edges = edges_of(project := project_of(texts), Evaluator(project), "b/src/lib.rs")
    assert ("implements", "a/src/lib:Paint") in {(edge.type, edge.target) for edge in edges}
    assert {edge.target for edge in edges if edge.type == "calls"} == {
        "b/src/lib:Wall.paint",
        "a/src/lib:Paint.paint",
    }


@pytest.mark.parametrize(
    "text",
    [
        "pub mod prelude { pub use crate::disk::Pool; }\n",
        "pub mod outer { pub mod prelude { pub use crate::disk::*; } }\n",
    ],
)
def test_a_module_of_imports_alone_is_imported_by_its_name(text):
    outer = "outer::" if "outer" in text else ""
    app = f"use crate::{outer}prelude;\nfn run(p: prelude::Pool) {{ p.count(); }}\n"
    project = project_of(
        {"src/lib.rs": f"mod disk;\nmod app;\n{text}", "src/disk.rs": DISK, "src/app.rs": app}
    )
    assert [edge.target for edge in calls_in(project, "src/app.rs")] == ["src/disk:Pool.count"]


def test_traits_are_implemented_for_types_from_outside():
    text = (
        "trait Paint { fn paint(&self); }\ntrait Mark {}\nimpl Paint for String { fn paint(&self) {} fn other(&self) {} }\n"
        "impl<T> Paint for Box<T> {\n  fn paint(&self) {}\n}\nimpl Paint for () { fn paint(&self) {} }\nimpl Mark for u8 {}\n"
    )
    project = project_of({"src/lib.rs": text})
    edges = edges_of(project, Evaluator(project), "src/lib.rs")
    ends = {
        (edge.source[8:], edge.target[8:], edge.location.line) for edge in edges if edge.type == "implements"
    }
    methods = {("String.paint", 3), ("Box.paint", 5), ("().paint", 7)}
    assert ends == {(name, "Paint.paint", line) for name, line in methods} | {
        ("String.paint", "Paint", 3),
        ("Box.paint", "Paint", 4),
        ("().paint", "Paint", 7),
        ("", "Mark", 8),
    }


def test_only_the_methods_within_an_extension_implement_its_trait():
    rust = (
        "trait Shop { fn sell(&self); }\ntrait Mart { fn sell(&self); }\nimpl Shop for u8 { fn sell(&self) {} } "
        "impl Mart for u8 { fn sell(&self) {} }\nimpl Shop for Made {}\nimpl Made { fn sell(&self) {} }\n"
    )
    swift = "protocol Shop { func sell() }\nextension Int: Shop {}\nextension Int {\n  func sell() {}\n}\n"
    script = 'class Base { go() {} }\nconst util = require("util");\nutil.inherits(Made, Base);\nMade.go = function () {};\n'
    texts = {"a.rs": rust, "b.swift": swift, "c.js": script}
    project = project_of(texts)
    edges = [edge for path in texts for edge in edges_of(project, Evaluator(project), path)]
    assert {(e.source, e.target) for e in edges if e.type in ("implements", "extends")} == {
        ("a:u8.sell", "a:Shop"),
        ("a:u8.sell", "a:Shop.sell"),
        ("a:u8.sell~2", "a:Mart"),
        ("a:u8.sell~2", "a:Mart.sell"),
        ("a", "a:Shop"),
        ("b", "b:Shop"),
    }
    assert not [edge for edge in edges if edge.type == "extends"]


@pytest.mark.parametrize(
    ("aliases", "returned", "is_found"),
    [
        ("pub type Result<T, E = Error> = StdResult<T, E>;", "ShopResult<Disk>", True),
        ("pub type Result<T> = std::result::Result<T, Error>;\npub type ShopResult2<T> = Result<T>;", "crate::error::ShopResult2<Disk>", True),
        ("pub type Result<T> = Outside<T>;", "ShopResult<Disk>", False),
    ],
)  # fmt: skip
def test_an_alias_of_a_type_that_wraps_another_wraps_it(aliases, returned, is_found):
    files = {
        "src/error.rs": f"use std::result::Result as StdResult;\npub struct Error {{}}\n{aliases}\n",
        "src/lib.rs": "pub mod error;\nuse crate::error::Result as ShopResult;\npub struct Disk {}\n"
        "impl Disk { pub fn spin(&self) {} }\npub struct Tape {}\nimpl Tape { pub fn spin(&self) {} }\n"
        f"pub fn get() -> {returned} {{ todo!() }}\nfn run() {{\n  let disk = get().unwrap();\n  disk.spin();\n  get()?.spin();\n}}\n",
    }
    targets = [(edge.location.line, edge.target) for edge in calls_in(project_of(files), "src/lib.rs")]
    assert [(line, target) for line, target in targets if "spin" in target] == (
        [(10, "src/lib:Disk.spin"), (11, "src/lib:Disk.spin")] if is_found else []
    )
