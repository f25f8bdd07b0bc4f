"""Observations of a small shop, a day apart, for tests of the tools of observations."""

DAY_MS = 86_400_000
BEGIN = 1_700_000_000_000  # 2023-11-14T22:13:20Z


def record(title, day=0, **others):
    note = {"title": title, "body": "", "kind": "event", "created_at": BEGIN + day * DAY_MS}
    return {"note": note | others}


def titles(answer, name="results"):
    return [row["title"] for row in answer[name]]
