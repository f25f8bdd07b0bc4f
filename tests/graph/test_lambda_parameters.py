"""Unnamed functions of Java and C#: types of their parameters, and the overloads that take them."""

from __future__ import annotations

from tests.graph.small_graphs import calls_in, project_of


def targets(texts: dict[str, str], path: str) -> set[tuple[int, str]]:
    """Return (line, target) of each call; the target is "" for several candidates."""
    edges = calls_in(project_of(texts), path)
    return {(edge.location.line, edge.target.partition(":")[2]) for edge in edges}


JAVA_TYPES = """package a;
import java.util.*;
import java.util.function.*;
interface Event { int tries(); }
interface Retry extends Event { boolean again(); }
interface Listener<T> { void accept(T event) throws Exception; }
interface Job<T> { T get(); }
interface Told<T> { T get(Event event); }
interface Work { void run(); }
class Policy {
  Policy on(Listener<Retry> listener) { return this; }
  Policy each(Consumer<? super Retry> listener) { return this; }
  <T> T load(Job<T> job) { return null; }
  <T> T load(Told<T> job) { return null; }
  void both(BiFunction<Event, Retry, Integer> both) {}
  <T> void any(Consumer<T> any) {}
  static void quiet(Job<Integer> job) {}
  static void quiet(Work work) {}
}
"""


def test_java_takes_the_type_of_a_parameter_from_the_method_that_gets_the_function():
    user = """package a;
import java.util.*;
class User {
  void run(Policy policy, List<Retry> all, Optional<Retry> found) {
    policy.on(e -> e.again());
    policy.each(e -> { if (e.again()) return; }).on(e -> e.tries());
    policy.both((first, second) -> second.again() ? first.tries() : 1);
    all.stream().filter(e -> e.again()).forEach(e -> e.tries());
    policy.any(e -> e.again());
    found.get().again();
  }
}
"""
    assert targets({"a/Types.java": JAVA_TYPES, "a/User.java": user}, "a/User.java") == {
        *((5, name) for name in ("Policy.on", "Retry.again")),
        *((6, name) for name in ("Policy.each", "Retry.again", "Policy.on", "Event.tries")),
        *((7, name) for name in ("Policy.both", "Retry.again", "Event.tries")),
        *((8, name) for name in ("Retry.again", "Event.tries")),
        *((9, name) for name in ("Policy.any", "Retry.again")),  # the only method of that name
        (10, "Retry.again"),
    }


def test_java_chooses_overloads_by_the_parameters_and_the_result_of_a_function():
    user = """package b;
import a.Policy;
class User {
  void run(Policy policy) {
    policy.load(() -> 1);
    policy.load(e -> e.tries());
    Policy.quiet(() -> { int x = 1; });
    Policy.quiet(() -> { return 1; });
    Policy.quiet(() -> 5);
    Policy.quiet(() -> run(null));
  }
}
"""
    assert targets({"a/Types.java": JAVA_TYPES, "b/User.java": user}, "b/User.java") == {
        (5, "Policy.load"),
        (6, "Policy.load~2"),
        (6, "Event.tries"),
        (7, "Policy.quiet~2"),
        (8, "Policy.quiet"),
        (9, "Policy.quiet"),
        (10, ""),
        (10, "User.run"),
    }


def test_java_takes_the_overload_of_a_further_base_and_of_the_type_that_a_factory_makes():
    types = """package a;
interface Top { void record(String text, Throwable error); }
interface Inner { void record(String text); }
interface Both extends Inner, Top { }
class Limit {
  void wait(Limit limit) {}
  void wait(Duration time) {}
  void run(Both both) {
    both.record("a", null);
    wait(Duration.ofMillis(5));
  }
}
"""
    assert targets({"a/A.java": types}, "a/A.java") == {(9, "Top.record"), (10, "Limit.wait~2")}


def test_a_method_does_not_hide_the_type_that_new_makes():
    java = "package a;\nclass Line { }\nclass User {\n  void Line() { new Line(); }\n  void run() { Line(); }\n}\n"
    assert targets({"A.java": java}, "A.java") == {(4, "Line"), (5, "User.Line")}
    csharp = (
        "namespace K {\nclass Line { }\nclass User {\n  void Line() { new Line(); }\n"
        "  void ArgumentException() { throw new ArgumentException(); }\n  void Run() { Line(); ArgumentException(); }\n} }\n"
    )
    assert targets({"A.cs": csharp}, "A.cs") == {
        (4, "Line"),
        (6, "User.Line"),
        (6, "User.ArgumentException"),
    }


CSHARP_TYPES = """using System;
namespace K {
public class Args {
  public Args Add(string a) => this;
  public Args Add(IFormattable b) => this;
  public bool Ok() => true;
}
public class Box<T> {
  public void Each(Action<T> f) { }
  public U Map<U>(Func<T, U> f) => default;
  public void Two(Func<T, int, bool> f) { }
}
public static class More {
  public static void Use(this Args args, Action<Args> f) { }
  public static void Write(this Args args, uint a) { }
  public static void Write(this Args args, Int32 a) { }
  public static void Write(this Args args, ushort a) { }
  public static Args[] ToArray(this IReader reader) => null;
}
public interface IReader : IDisposable { }
public enum Kind { First, Last }
public class Command {
  public Command(Action<Args> f) { }
  public Command With(string a) => this;
  public Command With(Action<Args> configure) => this;
  public void Expect(Kind kind) { }
  public void Expect(string text, bool folded = true) { }
}
}
"""


def test_csharp_takes_the_type_of_a_parameter_from_the_method_that_gets_the_function():
    user = """using System.Linq;
using System.Collections.Generic;
namespace K {
class User { void Run(List<Args> list, Box<Args> box, Args one) {
  new Command(a => a.Add("x")).With(a => a.Add(1));
  list.Where(a => a.Ok()).Select(a => a.Add("q"));
  box.Each(a => a.Ok());
  box.Two((a, n) => a.Ok());
  box.Map(a => a.Ok());
  one.Use(a => a.Ok());
  list.First().Ok();
} } }
"""
    assert targets({"Types.cs": CSHARP_TYPES, "A.cs": user}, "A.cs") == {
        *((5, name) for name in ("Command", "Args.Add", "Command.With~2", "Args.Add~2")),
        *((6, name) for name in ("Args.Ok", "Args.Add")),
        *((7, name) for name in ("Box.Each", "Args.Ok")),
        *((8, name) for name in ("Box.Two", "Args.Ok")),
        *((9, name) for name in ("Box.Map", "Args.Ok")),
        *((10, name) for name in ("More.Use", "Args.Ok")),
        (11, "Args.Ok"),
    }


def test_csharp_chooses_overloads_and_extensions_by_built_in_types_and_members_of_enumerations():
    user = """namespace K {
class User {
  uint id;
  ushort Small { get; set; }
  void Run(Args args, Command command, IReader reader, bool on) {
    args.Write(this.id);
    args.Write(Small);
    args.Write(3);
    command.Expect(Kind.Last);
    reader.ToArray();
    args.Add(on ? "a" : "b");
  }
} }
"""
    assert targets({"Types.cs": CSHARP_TYPES, "A.cs": user}, "A.cs") == {
        (6, "More.Write"),
        (7, "More.Write~3"),
        (8, "More.Write~2"),
        (9, "Command.Expect"),
        (10, "More.ToArray"),
        (11, "Args.Add"),
    }


def test_java_leaves_the_methods_of_references_to_the_library():
    user = """package a;
import java.util.concurrent.atomic.*;
class Config { void set(Config other) {} void remove() {} Config get() { return this; } }
class User {
  AtomicReference<Config> config;
  ThreadLocal<Config> current;
  void run(Config plain) {
    config.set(new Config());
    config.get();
    current.remove();
    plain.remove();
  }
}
"""
    assert targets({"a/User.java": user}, "a/User.java") == {(8, "Config"), (11, "Config.remove")}


def test_csharp_takes_no_element_for_a_pair_of_a_dictionary():
    user = """using System.Linq;
using System.Collections.Generic;
namespace K {
class Text { public void Check() { } }
class Setting { public Text Value; public void Check() { } }
class Settings : Dictionary<string, Setting> { }
class User { void Run(Dictionary<string, Setting> map, IReadOnlyDictionary<string, List<Setting>> more, Settings own) {
  map.Where(pair => pair.Value.Check());
  map.First().Value.Check();
  map.ToList().ForEach(pair => pair.Value.Check());
  own.First().Value.Check();
  map["a"].Check();
  map.Values.First().Check();
  more["a"][0].Check();
} } }
"""
    sure = {edge for edge in targets({"A.cs": user}, "A.cs") if edge[1]}
    assert sure == {(line, "Setting.Check") for line in (12, 13, 14)}


def test_constructors_with_different_function_types_leave_the_parameter_open():
    java = """package a;
import java.util.function.*;
class Tcp { void bind() {} }
class Udp { void bind() {} }
class Server {
  Server(String name, Consumer<Tcp> made) {}
  Server(int port, Consumer<Udp> made) {}
  void run() { new Server(80, made -> made.bind()); }
}
"""
    assert targets({"A.java": java}, "A.java") == {(8, "Server"), (8, "")}


def test_csharp_takes_no_type_by_the_position_of_a_named_argument():
    text = """using System;
namespace K {
class A { public void Save() { } }
class B { public void Save() { } }
class S { public void Use(Action<A> first = null, Action<B> second = null) { } }
class User { void Run(S s) {
  s.Use(second: made => made.Save());
  s.Use(made => made.Save());
} } }
"""
    assert targets({"A.cs": text}, "A.cs") == {(7, "S.Use"), (7, ""), (8, "S.Use"), (8, "A.Save")}


def test_long_lists_of_parameters_and_of_functions_are_not_read():
    text = """package a;
interface Job { void run(A a); }
class B { void save() {} }
class A { void save() {} void two(Job... jobs) {}
  void run(A a) { a.two(%s); }
  void most(A a) { a.two(%s); }
}
"""
    java = text % (", ".join(["x -> x.save()"] * 17), "x -> x.save()")
    assert targets({"A.java": java}, "A.java") == {(5, "A.two"), (5, ""), (6, "A.two"), (6, "A.save")}


def test_java_takes_the_bound_of_a_type_parameter_only_if_no_argument_tells_it():
    text = """package a;
interface Event { void fire(); }
class Click implements Event { public void fire() {} }
interface Handler<E extends Event> { void handle(E event); }
class Bus {
  <E extends Event> void on(Class<E> type, Handler<E> handler) {}
  <E extends Event> void all(int count, Handler<E> handler) {}
  void run(Bus bus) {
    bus.on(Click.class, event -> event.fire());
    bus.all(1, event -> event.fire());
  }
}
"""
    assert targets({"A.java": text}, "A.java") == {
        (9, "Bus.on"),
        (9, ""),
        (10, "Bus.all"),
        (10, "Event.fire"),
    }


def test_java_prefers_the_nested_interface_of_the_callee_to_a_type_of_the_library():
    text = """package a;
class Tcp { void bind() {} }
class Udp { void bind() {} }
class Bus {
  interface Function { void call(Tcp first, Tcp second); }
  interface Callback { int call(Tcp first); }
  interface Consumer<T> { void take(Tcp first); }
  void on(Function made) {}
  void on(Callback made) {}
  void each(Consumer<Udp> made) {}
}
class User { void run(Bus bus) {
  bus.on((a, b) -> { });
  bus.on(a -> 1);
  bus.each(made -> made.bind());
} }
"""
    assert targets({"A.java": text}, "A.java") == {
        (13, "Bus.on"),
        (14, "Bus.on~2"),
        (15, "Bus.each"),
        (15, "Tcp.bind"),
    }


def test_java_gives_no_result_to_blocks_that_may_not_complete():
    text = """package a;
import java.util.concurrent.Callable;
class Pool {
  void submit(Runnable made) {}
  <T> void submit(Callable<T> made) {}
  void work() {}
  void run(Pool pool) {
    pool.submit(() -> { try { throw new Error(); } finally { work(); } });
    pool.submit(() -> { switch (1) { default: throw new Error(); } });
    pool.submit(() -> { synchronized (this) { while (true) { } } });
    pool.submit(() -> { if (true) { throw new Error(); } else { throw new Error(); } });
    pool.submit(() -> { try { work(); } finally { } });
  }
}
"""
    submitted = {edge for edge in targets({"A.java": text}, "A.java") if edge[1] != "Pool.work"}
    assert submitted == {*((line, "") for line in range(8, 12)), (12, "Pool.submit")}


def test_csharp_tells_the_projects_type_from_a_built_in_type_of_that_name():
    text = """namespace K {
class Single { }
class Sink {
  public void Put(Single one) { }
  public void Put(double many) { }
}
class User { float size; void Run(Sink sink, Single one) {
  sink.Put(size);
  sink.Put(one);
} }
}
"""
    assert targets({"A.cs": text}, "A.cs") == {(8, "Sink.Put~2"), (9, "Sink.Put")}


CSHARP_RESULTS = """using System; using System.Collections.Generic; using System.Threading.Tasks;
namespace K {
public interface ICar { void Rev(); string Idle(int a); Task<int> Go(); Task Stop(); ValueTask<int> Later(); }
public interface IBus { void Rev(); }
public static class More {
  public static int When<T>(this T car, Action<T> call) => 1;
  public static int When<T>(this T car, Func<T, Task> call) => 2;
  public static int When<T, R>(this T car, Func<T, ValueTask<R>> call) => 3;
  public static void Each<T>(this IEnumerable<T> all, Action<T> call) { }
  public static void Both<T>(this T car, T other, Action<T> call) { }
  public static void Fails(this Task task, Exception error) { }
  public static void Fails<T>(this Task<T> task, Exception error) { }
}
public class Run {
  public static void Do(Action a) { }
  public static int Do(Func<int> a) => 1;
  public static Task Do(Func<Task> a) => null;
  public static Task<T> Do<T>(Func<Task<T>> a) => null;
  public static T Is<T>(T value) => value;
  public static T Is<T>(Func<int, T> make) => default;
}
}
"""


def csharp_calls(*lines: str) -> dict[str, set[str]]:
    """Return line → targets, without those of the methods of cars."""
    head = "using K; using System; using System.Collections.Generic;\nclass User { void Go(ICar car, List<ICar> cars, Func<int, string> make, IBus bus, Exception error) {\n"
    text = head + "\n".join(lines) + "\n} }\n"
    by_line: dict[str, set[str]] = {line: set() for line in lines}
    for edge in calls_in(project_of({"K.cs": CSHARP_RESULTS, "A.cs": text}), "A.cs"):
        targets = (edge.target,) if edge.target else edge.candidates
        by_line[lines[edge.location.line - 3]] |= {target.partition(":")[2] for target in targets}
    return by_line


def test_csharp_chooses_overloads_by_what_a_function_gives():
    every = {"Run.Do", "Run.Do~2", "Run.Do~3", "Run.Do~4"}
    assert csharp_calls(
        "Run.Do(() => { int x = 1; });",
        "Run.Do(() => { return 1; });",
        "Run.Do(() => 1);",
        "Run.Do(async () => { });",
        "Run.Do(async () => { return 1; });",
        "Run.Do(() => car.Rev());",
        "Run.Do(() => car.Stop());",
        "Run.Do(() => car.Go());",
        "Run.Do(() => Outside.Call());",
        "Run.Do(() => throw error);",
        "Run.Do(() => { if (error == null) { return 1; } throw error; });",
        "Run.Do(() => { while (true) { } });",
    ) == {
        "Run.Do(() => { int x = 1; });": {"Run.Do"},
        "Run.Do(() => { return 1; });": {"Run.Do~2"},
        "Run.Do(() => 1);": {"Run.Do~2"},
        "Run.Do(async () => { });": {"Run.Do~3"},
        "Run.Do(async () => { return 1; });": {"Run.Do~4"},
        "Run.Do(() => car.Rev());": {"Run.Do", "ICar.Rev"},
        "Run.Do(() => car.Stop());": {"Run.Do~3", "ICar.Stop"},
        "Run.Do(() => car.Go());": {"Run.Do~4", "ICar.Go"},
        "Run.Do(() => Outside.Call());": every,
        "Run.Do(() => throw error);": every,
        "Run.Do(() => { if (error == null) { return 1; } throw error; });": every,
        "Run.Do(() => { while (true) { } });": every,
    }


def test_csharp_takes_a_parameter_from_the_receiver_of_an_extension():
    assert csharp_calls(
        "car.When(x => x.Rev());",
        "car.When(x => x.Idle(1));",
        "car.When(x => x.Go());",
        "car.When(x => x.Later());",
        "bus.When(x => x.Rev());",
        "cars.Each(x => x.Rev());",
        "car.Both(bus, x => x.Rev());",
        "car.Go().Fails(error);",
        "car.Stop().Fails(error);",
        "Run.Is(make);",
        "Run.Is(error);",
        "Run.Is(x => 1);",
    ) == {
        "car.When(x => x.Rev());": {"More.When", "ICar.Rev"},
        "car.When(x => x.Idle(1));": {"More.When", "ICar.Idle"},
        "car.When(x => x.Go());": {"More.When~2", "ICar.Go"},
        "car.When(x => x.Later());": {"More.When~3", "ICar.Later"},
        "bus.When(x => x.Rev());": {"More.When", "IBus.Rev"},
        "cars.Each(x => x.Rev());": {"More.Each", "ICar.Rev"},
        "car.Both(bus, x => x.Rev());": {"More.Both", "ICar.Rev", "IBus.Rev"},
        "car.Go().Fails(error);": {"More.Fails~2", "ICar.Go"},
        "car.Stop().Fails(error);": {"More.Fails", "ICar.Stop"},
        "Run.Is(make);": {"Run.Is~2"},
        "Run.Is(error);": {"Run.Is"},
        "Run.Is(x => 1);": {"Run.Is~2"},
    }


def test_a_function_that_awaits_may_give_a_task_with_or_without_a_value():
    text = """using System; using System.Threading.Tasks;
class Run { public static void Do<T>(Func<T> a) { } public static void Do<T>(Func<Task<T>> a) { }
  void Go(Run run) {
    Do(async () => await run.Stop());
    Do(async () => { return await run.Stop(); });
  }
}
"""
    called = {edge.location.line: edge.target for edge in calls_in(project_of({"A.cs": text}), "A.cs")}
    assert called == {4: "", 5: "A:Run.Do~2"}
