"""The effect on rankings of word counts over a whole collection, for scale.py.

A Milvus server counts words over the whole collection, milvus-lite and Cortex's own engines over
the searched project. The engines here are measured, whose workers accept such counts (as a search
in several projects does): each annotated query runs once with the counts of its own project and
once with those of all. Files that a query names, and mean lengths, which a server has over the
whole collection as well, are left out of both.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import quality
import report
import systems

from cortex.ask.multi_project.word_counts import add_counts
from cortex.ask.questions import Search
from cortex.ask.search import Lanes, rank_lanes, read_question, text_candidates, vector_candidates
from cortex.engines.serving import EngineWorker
from cortex.settings import config as configuration
from ipc.messages import CountWords, Filters, MeaningSearch, TextSignals, WordCounts
from workers.vector import make


class Project:
    """An indexed repository, searched in this process."""

    def __init__(self, repo: dict[str, Any], root: Path) -> None:
        self.repo, self.root = repo | {"layout": quality.PARENTS}, root
        self.config = configuration.load(str(root))
        self._text, self._vector = EngineWorker("text", self.config), make(self.config)
        for worker in (self._text, self._vector):
            worker.reload()

    def counts(self, query: str) -> WordCounts:
        return self._text.handlers[CountWords](CountWords(query))

    def ndcg(self, annotation: dict[str, Any], counts: WordCounts) -> float:
        reading, question = (
            read_question(annotation["query"]),
            Search(annotation["query"], systems.DEPTH).checked(),
        )
        text = TextSignals(reading.query, text_candidates(question), counts=counts)
        meaning = MeaningSearch(reading.query, vector_candidates(question), Filters())
        lanes = Lanes(self._text.handlers[TextSignals](text), self._vector.handlers[MeaningSearch](meaning))
        ranked = rank_lanes(lanes, question, reading, self.config.fusion.bm25_weight)[: systems.DEPTH]
        hits = [
            systems.Hit(ranked_hit.hit.path, ranked_hit.hit.start_line, ranked_hit.hit.end_line)
            for ranked_hit in ranked
        ]
        return quality.score(annotation, hits, self.repo, 0.0, "cortex").ndcg


def measure(queries: Path, work: Path) -> report.Figures:
    """Measure the repositories; `work` is the folder that `quality.py --work` wrote, indexed."""
    repos = json.loads((queries / "repos.json").read_text())
    folders = [work / quality.PARENTS / repo["name"] / repo["name"] for repo in repos]
    projects = [Project(repo, folder) for repo, folder in zip(repos, folders, strict=True)]
    rows = [_compare_counts(project, projects, queries) for project in projects]
    report.print_table(("repository", "its own counts", "of all"), [tuple(row.values()) for row in rows])
    means = {name: round(statistics.mean(row[name] for row in rows), 4) for name in ("own", "all")}
    return {"rarity": rows, "rarity_ndcg": means}


def _compare_counts(project: Project, projects: list[Project], queries: Path) -> dict[str, Any]:
    name, root = project.repo["name"], project.repo.get("benchmark_root") or ""
    annotations = json.loads((queries / "annotations" / f"{name}.json").read_text())
    scores: dict[str, list[float]] = {"own": [], "all": []}
    for annotation in annotations:
        question = quality.resolve_paths(annotation, root, quality.PARENTS, project.root)
        words = read_question(question["query"]).query
        scores["own"].append(project.ndcg(question, WordCounts()))
        scores["all"].append(
            project.ndcg(question, add_counts([peer_project.counts(words) for peer_project in projects]))
        )
    return {"repository": name} | {kind: round(statistics.mean(some), 4) for kind, some in scores.items()}
