"""Targets of C# calls of a name with several definitions, some in preprocessor conditions or other
namespaces: small projects in which a guess would be wrong.
"""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

#: subject → (files, lines and targets of the calls in `A.cs`)
CASES = {
    "an explicit interface member is not the method of the name": (
        {
            "A.cs": (
                "namespace K;\npublic class Row : IRow, IRows {\n  public int Next() { return 1; }\n"
                "  object IRow.Next() { return Next(); }\n}\n"
            ),
        },
        {(4, "A:Row.Next")},
    ),
    "a condition that gives a method its body": (
        {
            "A.cs": (
                "namespace K;\npublic interface ILog {\n  void Put(string text)\n#if DEFAULTS\n    => Write(text, 1)\n#endif\n    ;\n"
                '  void Write(string text, int level);\n}\npublic class User { void Run(ILog log) { log.Put("x"); } }\n'
            ),
        },
        {(5, "A:ILog.Write"), (10, "A:ILog.Put")},
    ),
    "a condition before an else": (
        {
            "A.cs": (
                "namespace K;\npublic class Rows : IRows {\n  void Run(int n) {\n    if (n > 1) { Next(); }\n#if FAST\n    else if (n > 0) { Last(); }\n"
                "#endif\n    else { First(); }\n  }\n  void Next() { }\n  void Last() { First(); }\n  public void First() { }\n}\n"
                "public interface IRows { void First(); }\n"
            ),
        },
        {(4, "A:Rows.Next"), (6, "A:Rows.Last"), (8, "A:Rows.First"), (11, "A:Rows.First")},
    ),
    "a condition in a chain of calls": (
        {
            "A.cs": (
                "namespace K;\npublic class Maker {\n  public Maker Fast() { return this; }\n  public Maker Safe() { return this; }\n"
                "  void Run() {\n    var made = new Maker()\n#if SAFE\n      .Safe()\n#endif\n      .Fast();\n  }\n}\n"
            ),
        },
        {(6, "A:Maker"), (8, "A:Maker.Safe"), (10, "A:Maker.Fast")},
    ),
    "a file that has most outside of its namespace": (
        {
            "Guard.cs": (
                "namespace Marks { class Mark {} }\nstatic class Guard {\n  public static void Holds(object one) { }\n"
                "  public static void Fits(object one) { }\n}\n"
            ),
            "A.cs": "namespace K;\nclass User { void Run() { Guard.Holds(1); } }\n",
        },
        {(2, "Guard:Guard.Holds")},
    ),
    "an array for a variadic parameter": (
        {
            "A.cs": (
                "namespace K;\nclass Log {\n  void Put<T>(string text, T one) { }\n  void Put(string text, params object?[]? all) { }\n"
                '  void Run(object?[]? all) { Put("x", all); Put("x", 1); }\n}\n'
            ),
        },
        {(5, "A:Log.Put~2"), (5, "A:Log.Put")},
    ),
    "the method of an unknown receiver with as many type arguments": (
        {
            "Rows.cs": "namespace K;\nclass Rows {\n  public int ReadAll<T>() { return 1; }\n  public int ReadAll() { return 2; }\n}\n",
            "A.cs": "namespace K;\nclass User { void Run() { var one = open(); one.ReadAll<int>(); one.ReadAll(); } }\n",
        },
        {(2, "Rows:Rows.ReadAll"), (2, "Rows:Rows.ReadAll~2")},
    ),
    "conversions of values of several types": (
        {
            "A.cs": (
                "namespace K;\nstruct Metre { public static explicit operator Metre(int one) => default; }\n"
                "class User { void Run(int one, string other, object boxed) {\n  var a = (Metre)boxed;\n  var b = (Metre)one;\n"
                "  var c = (Metre)other;\n} }\n"
            ),
        },
        {(5, "A:Metre.operator Metre")},
    ),
    "an operator with operands of several types": (
        {
            "A.cs": (
                "namespace K;\nstruct Metre { public static Metre operator +(Metre one, Metre other) => one; }\n"
                "class User { void Run(Metre one, string other) {\n  var a = one + one;\n  var b = one + other;\n} }\n"
            ),
        },
        {(4, "A:Metre.operator+")},
    ),
    "type arguments tell a method from its extensions, and an array is enumerable": (
        {
            "A.cs": (
                "namespace K;\npublic class Parser {\n  public int Parse<T>(IEnumerable<string> args) => 1;\n"
                "  public int Parse<T>(Func<T> make, IEnumerable<string> args) => 1;\n"
                "  public int Parse(IEnumerable<string> args, params Type[] types) => 1;\n}\npublic static class More {\n"
                "  public static int Parse<A, B>(this Parser parser, IEnumerable<string> args) => 2;\n"
                "  public static int Parse<A, B, C>(this Parser parser, IEnumerable<string> args) => 3;\n}\n"
                "class User { void Run(Parser parser, string[] args) {\n  parser.Parse<int>(args);\n  parser.Parse<int, int>(args);\n"
                "  parser.Parse<int, int, int>(args);\n  parser.Parse(args);\n  parser.Parse<int>(() => 1, args);\n} }\n"
            ),
        },
        {
            (12, "A:Parser.Parse"),
            (13, "A:More.Parse"),
            (14, "A:More.Parse~2"),
            (15, "A:Parser.Parse~3"),
            (16, "A:Parser.Parse~2"),
        },
    ),
    "a base outside of the project has the method of that number, and the platform the extension": (
        {
            "A.cs": (
                "namespace K;\nclass Held : System.IO.Stream {\n  protected override void Dispose(bool now) { }\n}\n"
                "static class More { public static Type GetTypeInfo(this Type type) => type; }\n"
                "class User { void Run(Held held, Type type) {\n  held.Dispose();\n  held.Dispose(true);\n  type.GetTypeInfo();\n} }\n"
            ),
        },
        {(8, "A:Held.Dispose"), (9, "")},
    ),
    "overloads in several parts of a class, and a class beside its namesake with type parameters": (
        {
            "Log-Old.cs": "namespace K;\npublic partial class Log { public void Put(object value) { } }\n",
            "Log-New.cs": "namespace K;\npublic partial class Log { public void Put(string message) { } }\n",
            "Make-T.cs": "namespace K;\npublic class Make<T> : Make { public new T Get(string n) => default; }\n",
            "Make.cs": "namespace K;\npublic class Make { public Log Get(string n) => null; }\n",
            "A.cs": (
                'namespace K;\nclass User { void Run(Log log, Make make) {\n  log.Put("x");\n  log.Put(1);\n  make.Get("a");\n} }\n'
            ),
        },
        {(3, "Log-New:Log.Put"), (4, "Log-Old:Log.Put"), (5, "Make:Make.Get")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_lead_to_the_right_definitions(case):
    files, targets = CASES[case]
    edges = calls_in(project_of(files), "A.cs")
    assert {(edge.location.line, edge.target) for edge in edges} == targets
