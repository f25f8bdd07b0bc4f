"""Qt in C++: signals are sent and connected, and its pointers act as their objects."""

from __future__ import annotations

import pytest

from cortex.graph.facts.repairs.qt import read_qt
from tests.graph.small_graphs import calls_in, project_of

FILES = {
    "store.h": (
        "class Store : public QObject {\n    Q_OBJECT\npublic:\n    void open();\n    Store* take(int n);\n    void next();\nsignals:\n"
        "    void saved(Store* store, int count);\n    void closed();\n\nprivate slots:\n    void reload();\n};\n"
    ),
    "panel.h": (
        '#include "store.h"\nclass Panel : public QObject {\n    Q_OBJECT\npublic:\n    void build();\nsignals:\n'
        "    void closed();\npublic slots:\n    void show(Store* store, int count);\nprivate:\n    Store* m_store;\n};\n"
    ),
    "store.cpp": (
        '#include "store.h"\nvoid Store::open()\n{\n    emit saved(this, 2);\n    if (!isOpen())\n        emit closed();\n'
        "    emit this->closed();\n    Q_EMIT saved(this, int(n));\n}\nvoid Store::reload() {}\n"
    ),
    "panel.cpp": (
        '#include "panel.h"\nvoid Panel::build()\n{\n    connect(m_store, SIGNAL(saved(Store*,int)),\n            SLOT(show(Store*,int)));\n'
        "    connect(m_store, SIGNAL(closed()), this, SIGNAL(closed()));\n    connect(this, SIGNAL(closed()), m_store, SLOT(reload()));\n"
        "    connect(a ? b : c, SIGNAL(closed()), a ? b : c, SLOT(reload()));\n"
        "    QScopedPointer<Store> one(new Store());\n    one->open();\n    QSharedPointer<Store> two;\n    two->next();\n"
        "    two->take(1);\n}\nvoid Panel::show(Store* store, int count) {}\n"
    ),
}


def test_signals_are_called_where_they_are_sent_and_connected():
    project = project_of(FILES)
    lines = {
        path: sorted((edge.location.line, edge.target.rpartition(":")[2]) for edge in calls_in(project, path))
        for path in ("store.cpp", "panel.cpp")
    }
    assert lines["store.cpp"] == [
        (4, "Store.saved"),
        (6, "Store.closed"),
        (7, "Store.closed"),
        (8, "Store.saved"),
    ]
    assert lines["panel.cpp"] == [
        (4, "Store.saved"),
        (5, "Panel.show"),
        (6, "Panel.closed"),
        (6, "Store.closed"),
        (7, "Panel.closed"),
        (7, "Store.reload"),
        (9, "Store"),
        (10, "Store.open"),
        (12, "Store.next"),
        (13, "Store.take"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "emit a(1);",
        "x.emit(1); int emit = 2; return emit;",
        "connect(a, SIGNAL(b(QMap<int, int>)), SLOT(\n  c()\n ));",
        "connect(&a, SIGNAL(b()),\n\n  &d, SLOT(c(int*)));",
        "SIGNAL(f()) SLOT(g(int))",
    ],
)
def test_text_keeps_its_length_and_lines(text):
    assert len(read_qt(text)) == len(text)
    assert read_qt(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("text", ["x.emit(1); int emit = 2;", "emit x;", "int SLOT(3);", "Signal(emit(1));"])
def test_code_without_qt_stays(text):
    assert read_qt(text) == text
