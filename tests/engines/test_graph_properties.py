"""Callers and impact across properties: getters and setters that call something, and overrides."""

import pytest

from tests.engines.small_graph import ask, serve_files

#: language → (file, text): a base, two heirs, and a page that reads and assigns their properties
SHAPES = {
    "csharp": (
        "Shapes.cs",
        """abstract class Shape {
    public abstract int Area { get; }
    public virtual int Scale { get { return 1; } set { Log(); } }
    protected static void Log() { }
}
class Square : Shape {
    public override int Area { get { return Measure(); } }
    public override int Scale { get { return Measure(); } set { Store(value); } }
    int Measure() { return 2; }
    void Store(int value) { }
}
class Circle : Shape {
    public override int Area => Round();
    int Round() { return 3; }
}
class Page {
    int Read(Square square) { return square.Area; }
    int ReadAny(Shape shape) { return shape.Area; }
    void Fill(Square square) { square.Scale = 3; }
    void FillAny(Shape shape) { shape.Scale = 3; }
    void Grow(Square square) { square.Scale += 1; }
    int ReadRound(Circle circle) { return circle.Area; }
    int Show(Shape shape) { return ReadAny(shape); }
}
""",
    ),
    "kotlin": (
        "Shapes.kt",
        """abstract class Shape {
    abstract val area: Int
    open var scale: Int
        get() = 1
        set(value) { log() }
    fun log() {}
}
class Square : Shape() {
    override val area: Int
        get() = measure()
    override var scale: Int
        get() = measure()
        set(value) { store(value) }
    fun measure(): Int { return 2 }
    fun store(value: Int) {}
}
class Circle : Shape() {
    override val area: Int get() = round()
    fun round(): Int { return 3 }
}
class Page {
    fun read(square: Square): Int { return square.area }
    fun readAny(shape: Shape): Int { return shape.area }
    fun fill(square: Square) { square.scale = 3 }
    fun fillAny(shape: Shape) { shape.scale = 3 }
    fun grow(square: Square) { square.scale += 1 }
    fun readRound(circle: Circle): Int { return circle.area }
    fun show(shape: Shape): Int { return readAny(shape) }
}
""",
    ),
    "swift": (
        "Shapes.swift",
        """class Shape {
    var area: Int { return base() }
    var scale: Int {
        get { return 1 }
        set { log() }
    }
    func base() -> Int { return 0 }
    func log() {}
}
class Square: Shape {
    override var area: Int { return measure() }
    override var scale: Int {
        get { return measure() }
        set { store(newValue) }
    }
    func measure() -> Int { return 2 }
    func store(_ value: Int) {}
}
class Circle: Shape {
    override var area: Int { return round() }
    func round() -> Int { return 3 }
}
class Page {
    func read(square: Square) -> Int { return square.area }
    func readAny(shape: Shape) -> Int { return shape.area }
    func fill(square: Square) { square.scale = 3 }
    func fillAny(shape: Shape) { shape.scale = 3 }
    func grow(square: Square) { square.scale += 1 }
    func readRound(circle: Circle) -> Int { return circle.area }
    func show(shape: Shape) -> Int { return readAny(shape: shape) }
}
""",
    ),
    "python": (
        "shapes.py",
        """class Shape:
    @property
    def area(self) -> int:
        return self.base()

    @property
    def scale(self) -> int:
        return 1

    @scale.setter
    def scale(self, value):
        self.log()

    def base(self):
        return 0

    def log(self):
        pass


class Square(Shape):
    @property
    def area(self) -> int:
        return self.measure()

    @property
    def scale(self) -> int:
        return self.measure()

    @scale.setter
    def scale(self, value):
        self.store(value)

    def measure(self):
        return 2

    def store(self, value):
        pass


class Circle(Shape):
    @property
    def area(self) -> int:
        return self.round()

    def round(self):
        return 3


class Page:
    def read(self, square: Square):
        return square.area

    def read_any(self, shape: Shape):
        return shape.area

    def fill(self, square: Square):
        square.scale = 3

    def fill_any(self, shape: Shape):
        shape.scale = 3

    def grow(self, square: Square):
        square.scale += 1

    def read_round(self, circle: Circle):
        return circle.area

    def show(self, shape: Shape):
        return self.read_any(shape)
""",
    ),
    "typescript": (
        "shapes.ts",
        """export abstract class Shape {
  get area(): number { return this.base(); }
  get scale(): number { return 1; }
  set scale(value: number) { this.log(); }
  base() { return 0; }
  log() {}
}
export class Square extends Shape {
  get area(): number { return this.measure(); }
  get scale(): number { return this.measure(); }
  set scale(value: number) { this.store(value); }
  measure() { return 2; }
  store(value: number) {}
}
export class Circle extends Shape {
  get area(): number { return this.round(); }
  round() { return 3; }
}
export class Page {
  read(square: Square) { return square.area; }
  readAny(shape: Shape) { return shape.area; }
  fill(square: Square) { square.scale = 3; }
  fillAny(shape: Shape) { shape.scale = 3; }
  grow(square: Square) { square.scale += 1; }
  readRound(circle: Circle) { return circle.area; }
  show(shape: Shape) { return this.readAny(shape); }
}
""",
    ),
}
#: languages in which a getter and its setter have one name: a call by dispatch may be of both
ONE_NAME = {"python", "typescript"}


@pytest.fixture(scope="module", params=SHAPES)
def language(request):
    return request.param


@pytest.fixture(scope="module")
def shapes(new_config, language):
    return serve_files(new_config(), dict([SHAPES[language]]))


def _folded(name: str) -> str:
    return name.partition(":")[2].lower().replace("_", "").replace("=", "").partition("~")[0]


def _names(worker, operation: str, target: str, depth: int = 1) -> dict[str, str]:
    """Folded name → kind of the step, of the rows of an answer."""
    _, results = ask(worker, operation, target, depth=depth)
    return {_folded(row["node"]["id"]): row.get("step", "") for row in results}


def test_a_getter_calls_and_is_called(shapes):
    assert set(_names(shapes, "callers", "Square.measure")) == {"square.area", "square.scale"}
    assert _names(shapes, "callers", "Circle.round") == {"circle.area": ""}
    assert _names(shapes, "callers", "Square.area") == {"page.read": "", "page.readany": "dispatch"}


def test_a_setter_calls_and_is_called(shapes):
    assert _names(shapes, "callers", "Square.store") == {"square.scale": ""}
    assert _names(shapes, "callers", "Square.scale") == {
        "page.fill": "",
        "page.grow": "",
        "page.fillany": "dispatch",
    }
    assert set(_names(shapes, "callees", "Page.grow")) == {"square.scale"}


def test_impact_passes_through_properties_and_the_properties_that_they_override(shapes, language):
    by_getter = {"square.area", "square.scale", "page.read", "page.grow", "page.readany", "page.show"}
    by_getter |= {"page.fillany"} if language in ONE_NAME else set()
    assert set(_names(shapes, "impact", "Square.measure", 3)) == by_getter
    by_setter = {"square.scale": "", "page.fill": "", "page.grow": "", "page.fillany": "dispatch"}
    assert _names(shapes, "impact", "Square.store", 3) == by_setter
    assert set(_names(shapes, "impact", "Circle.round", 3)) == {
        "circle.area",
        "page.readround",
        "page.readany",
        "page.show",
    }


def test_a_property_that_another_overrides_has_implementations_and_a_changed_one_reaches_its_base(shapes):
    assert set(_names(shapes, "implementations", "Shape.area")) == {"square.area", "circle.area"}
    impact = _names(shapes, "impact", "Square.area", 2)
    assert impact == {"shape.area": "", "page.read": "", "page.readany": "dispatch", "page.show": ""}
