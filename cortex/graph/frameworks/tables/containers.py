"""The containers that make the services of an application, and pass them to its classes. A new one
is a description here (docs/FRAMEWORKS.md).
"""

from dataclasses import dataclass

from cortex.graph.frameworks.tables.framework import Places


@dataclass(frozen=True, slots=True)
class Container:
    """`files` are paths of its files, and `holds` are texts; one is in each file that binds or asks
    for a service by more than its type.

    `services` are annotations of a class that the container makes for each type that it has, and
    `makers` those of a method whose result it passes for the declared type and the types above.
    `name` is the place of the service's name there, and `primary` an annotation that chooses one of
    several; annotations that begin with one of `conditions` make it only sometimes. `mark` is a
    word of each file that asks for a service. `calls` are names of calls that bind a type argument
    or a `typeof(…)` to the next one, or to the value that an argument makes; after `keyed` the
    first argument is the name. `entry` is the key of the type or name in an object that binds it by
    one of `values`. `slots` annotate a field or parameter that gets the service of a name.
    """

    files: str
    holds: tuple[bytes, ...]
    services: frozenset[str] = frozenset()
    makers: frozenset[str] = frozenset()
    name: Places = (0, "value", "name")
    mark: str = ""
    primary: str = ""
    conditions: tuple[str, ...] = ("Conditional", "Profile")
    calls: str = ""
    keyed: str = ""
    entry: str = ""
    values: tuple[str, ...] = ()
    slots: frozenset[str] = frozenset()


CONTAINERS = (
    Container(
        r"\.(?:java|kt)$",
        (b"org.springframework.",),
        services=frozenset({"Service", "Component", "Repository", "Controller", "RestController"}),
        makers=frozenset({"Bean"}),
        mark="springframework",
        primary="Primary",
        slots=frozenset({"Qualifier", "Resource", "Named"}),
    ),
    Container(
        r"\.cs$",
        (b"Scoped", b"Transient", b"Singleton", b"AddHttpClient<", b"FromKeyedServices"),
        calls=r"(?:Try)?Add(?:Keyed)?(?:Scoped|Transient|Singleton)|AddHttpClient",
        keyed="Keyed",
        slots=frozenset({"FromKeyedServices"}),
    ),
    Container(
        r"(?<!\.stories)\.[cm]?[jt]sx?$",  # a story passes mocks
        (b"provide:", b"@Inject("),
        entry="provide",
        values=("useClass", "useExisting", "useFactory", "useValue"),
        slots=frozenset({"Inject"}),
    ),
)
