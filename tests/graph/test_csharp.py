"""Targets of C# calls of a name with several definitions, some in preprocessor conditions or other
namespaces: small projects in which a guess would be wrong.
"""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, facts_in, project_of

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
    "type arguments tell the result of a method, and which of several is called": (
        {
            "A.cs": (
                "namespace K;\npublic interface ICar { void Rev(); }\npublic interface IBus { void Rev(); }\n"
                "public static class Make {\n  public static T For<T>(params object[] a) => default;\n"
                "  public static U For<T, U>() => default;\n  public static object Any<T>() => null;\n"
                "  public static int Raise() => 1;\n  public static int Raise<T>(params object[] a) => 2;\n}\n"
                "class User { void Run() {\n  var car = Make.For<ICar>();\n  car.Rev();\n  Make.For<ICar, IBus>().Rev();\n"
                "  var any = Make.Any<ICar>();\n  any.Rev();\n  Make.For<string>().Rev();\n  Outside.For<ICar>().Rev();\n"
                "  Make.Raise<int>();\n  Make.Raise();\n} }\n"
            ),
        },
        {
            (12, "A:Make.For"),
            (13, "A:ICar.Rev"),
            (14, "A:Make.For~2"),
            (14, "A:IBus.Rev"),
            (15, "A:Make.Any"),
            (17, "A:Make.For"),
            (19, "A:Make.Raise~2"),
            (20, "A:Make.Raise"),
        },
    ),
    "an extension of anything that returns its receiver, and one that returns another type": (
        {
            "A.cs": (
                "namespace K;\npublic interface ICar { void Rev(); }\npublic interface IBus { void Rev(); }\n"
                "public static class More {\n  public static T Got<T>(this T it, int n) => it;\n"
                "  public static U Turned<T, U>(this T it, U other) => other;\n}\n"
                "class User { void Run(ICar car, IBus bus) {\n  car.Got(1).Rev();\n  bus.Got(1).Rev();\n"
                "  car.Turned(bus).Rev();\n} }\n"
            ),
        },
        {
            (9, "A:More.Got"),
            (9, "A:ICar.Rev"),
            (10, "A:More.Got"),
            (10, "A:IBus.Rev"),
            (11, "A:More.Turned"),
        },
    ),
    "a type in an inner name space, and a type of that name": (
        {
            "Inner.cs": "namespace K.Events;\npublic class Opened { public class Part { } }\n",
            "Other.cs": "namespace L.Events;\npublic class Closed { }\n",
            "Type.cs": "namespace K;\npublic class Plain { public class Opened { } }\n",
            "Using.cs": "namespace K.Events.Plain;\npublic class Opened { }\n",
            "A.cs": (
                "namespace K;\nclass User { void Run() {\n  new Events.Opened();\n  new Events.Closed();\n"
                "  new Plain.Opened();\n  new Events.Missing();\n} }\n"
            ),
        },
        {(3, "Inner:Opened"), (5, "Type:Plain.Opened")},
    ),
    "a function without a type of its own is no value of a type parameter": (
        {
            "A.cs": (
                "namespace K;\npublic static class Arg {\n  public static T Is<T>(T value) => value;\n"
                "  public static T Is<T>(Predicate<T> fits) => default;\n}\n"
                "class User { void Run() {\n  Arg.Is<int>(x => x > 3);\n  Arg.Is<int>(3);\n} }\n"
            ),
        },
        {(7, "A:Arg.Is~2"), (8, "A:Arg.Is")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_lead_to_the_right_definitions(case):
    files, targets = CASES[case]
    edges = calls_in(project_of(files), "A.cs")
    assert {(edge.location.line, edge.target) for edge in edges} == targets


def test_a_change_of_a_generic_result_reaches_the_calls_with_type_arguments():
    make = "namespace K;\npublic static class Make { public static T For<T>() => default; }\n"
    files = {
        "Car.cs": "namespace K;\npublic interface ICar { void Rev(); }\npublic interface IBus { void Rev(); }\n",
        "Make.cs": make,
        "A.cs": "namespace K;\nclass User { void Run() {\n  var car = Make.For<ICar>();\n  car.Rev();\n} }\n",
    }
    project = project_of(files)
    assert (4, "Car:ICar.Rev") in {(edge.location.line, edge.target) for edge in calls_in(project, "A.cs")}
    changed = make.replace("T For", "object For").replace("default", "null")
    assert "A.cs" in project.update({"Make.cs": facts_in("Make.cs", changed)})
    assert {(edge.location.line, edge.target) for edge in calls_in(project, "A.cs")} == {(3, "Make:Make.For")}
