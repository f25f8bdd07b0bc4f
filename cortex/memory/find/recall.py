"""Search of notes: the indexes that follow the store, and queries over them."""

import logging
import math
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from cortex.embedders import Embedder
from cortex.memory.find.catalog import Catalog, Selection
from cortex.memory.find.links import Links
from cortex.memory.find.model_vectors import ModelVectors
from cortex.memory.find.newer.changes import arrange
from cortex.memory.find.newer.newer_notes import NewerNotes
from cortex.memory.find.newer.replacements import Replacements
from cortex.memory.find.ranking import (
    Lanes,
    Ranked,
    evidence,
    is_noted,
    rank,
    similarities,
    with_neighbours,
)
from cortex.memory.find.read_notes import ReadNotes
from cortex.memory.find.vectors import Cosines, Vectors
from cortex.memory.find.words import Words
from cortex.memory.note import Note
from cortex.memory.observations.query_log import Queries
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.erasure import Erased
from cortex.memory.store.note_store import Store
from cortex.memory.store.records import Point
from cortex.memory.store.rows import outline_of
from cortex.memory.team.postgresql import Server
from cortex.memory.team.projects import Projects
from cortex.memory.text import asks_about_time, embedded_text, gist, question_words
from cortex.memory.times import just_now
from cortex.memory.transcripts.search.exchange_index import ExchangeIndex
from cortex.memory.upkeep.state import Upkeep
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.errors import CortexError

log = logging.getLogger(__name__)

#: changes read from the log in one batch
CHANGES = 1_000
#: indexes that can be rebuilt from the store; folder of the vectors of a model
INDEXES, MODEL = ("words", "vectors", "edges"), "model-vectors"
#: notes that the built-in model embeds again in one step (5 ms)
RENEWED = 50
#: candidates of the word lane for each requested hit, and at least
PROPOSED, PROPOSED_MIN = 5, 200
#: share of a superseded note's score that its heir gets; heirs of heirs that are followed
HEIR_SHARE, HEIR_STEPS = 0.95, 10
#: earlier texts of notes that a question about a past moment has a model embed (3 ms each); with
#: more, the built-in embedder answers it
REWORDED_MAX = 100
#: best hits that are compared with each other
COMPARED = 10
#: rows of an answer whatever tells for them; cosine above the bound of `is_noted` from which on one
#: of them is surely about the question: below are .04 of the questions that lives answer, and .7 of
#: those that they do not
FEWEST, SURE = 3, 0.08
#: best hits by similarity from which the graph is walked
ANCHORS = 5


@dataclass(frozen=True, slots=True)
class RecalledNote:
    """A hit; `parts`: the contributions to its score; `newer`: the number of the note that outdates
    it, 0 for none; `disagrees`: numbers of older hits that it may disagree with; `evidence`: as of
    `Ranked`; `is_unsure`: perhaps no hit of the answer is about the question.
    """

    note: Note
    score: float
    parts: dict[str, float]
    newer: int = 0
    disagrees: tuple[int, ...] = ()
    evidence: float = math.inf
    is_unsure: bool = False


class Memory:
    """The store with its indexes. Use it in one thread."""

    def __init__(
        self,
        folder: Path,
        embedder: Embedder,
        now: Callable[[], int] = just_now,
        *,
        home: Path | None = None,
        driver: Driver | Server = PLAIN,
        model: Callable[[], Embedder] | None = None,
    ) -> None:
        """`home`: the folder of the indexes, if that is not `folder`; `model`: opens the embedder
        that answers questions as soon as it has embedded all notes.
        """
        self.store = Store(folder, now, driver)
        try:
            self._open(self.store.database.indexes(home or folder), embedder, now, model)
        except BaseException:  # damaged page: a back-up must be able to replace the database
            self.store.close()
            raise

    def _open(
        self, folder: Path, embedder: Embedder, now: Callable[[], int], model: Callable[[], Embedder] | None
    ) -> None:
        self.projects = Projects(self.store)
        self.queries = Queries(self.store)
        self.now = now
        self.upkeep = Upkeep()
        #: project → number of sessions from before memory was used in it, which are not read
        self.unread_sessions: dict[str, int] = {}
        self.catalog, self.links = Catalog(), Links()
        #: the notes of answers, as of `reached`
        self.notes = ReadNotes(self.store.notes_by_number)
        self._folder, self._embedder = folder, embedder
        self.words = Words(self._folder / "words")
        self.vectors = Vectors(self._folder / "vectors", embedder)
        self.replacements = Replacements(self._folder / "replacements")
        self.model = ModelVectors(self._folder / MODEL, model, self.store) if model else None
        if model is None:
            files.remove_tree(self._folder / MODEL)
        self._reached: Point | None = None
        self._exchange_index: ExchangeIndex | None = None
        self.follow()
        if self.model:
            self.model.prepare()

    def close(self) -> None:
        if self.model:
            self.model.close()
        try:
            self.queries.write(self.now())
            if self._exchange_index is not None:
                self._exchange_index.close()
            self.words.commit()
        except (OSError, ValueError) as error:  # the next start rebuilds it
            log.warning("the word index of memory was not saved: %s", error)
        finally:
            self.store.close()

    @property
    def exchange_index(self) -> ExchangeIndex:
        """The index of exchanges in sessions, opened on first use."""
        if self._exchange_index is None:
            self._exchange_index = ExchangeIndex(self.store, self._folder / "sessions")
        return self._exchange_index

    @property
    def reached(self) -> Point:
        """The last change that was followed."""
        return self._reached or Point()

    def follow(self) -> None:
        """Update the indexes with the changes of the store. A broken index is rebuilt."""
        try:
            with self.store.database.moment():
                self._follow_changes()
        except (OSError, ValueError) as error:  # from tantivy or the system, for broken files
            log.warning("rebuilding the indexes of memory: %s", error)
            files.make_private(self.vectors.path.parent)  # the words are first, and follow with them
            for index in INDEXES:
                for _ in self.rebuild(index):
                    pass

    def _follow_changes(self) -> None:
        if self._reached is None:
            for _ in self._load():
                pass
            for index in self._diverged_indexes():
                for _ in self.rebuild(index):
                    pass
            self._forget(self.vectors.numbers() - self.catalog.numbers())
        reached, news = {self.reached, self.words.reached, self.vectors.reached}, self.store.news
        newest = self.store.newest
        if reached == {newest}:
            return
        if reached == {news.after} and news.reached == newest:
            changed = [note for note in news.notes.values() if note]
            self._take(news.reached, dict.fromkeys(news.notes, news.reached.number), news.edges, changed)
            return
        if any(self.store.point_at(point.number) != point for point in reached):
            self._reached = None  # the store was restored, or another server has taken over
            self._follow_changes()
            return
        for _ in self._take_in(min(reached).number):
            pass

    def _diverged_indexes(self) -> list[str]:
        """The indexes that followed changes unknown to the store, which was restored, or lack a
        note: a cut file ends at a whole row.
        """
        reached = {"words": self.words.reached, "vectors": self.vectors.reached}
        diverged = [index for index, point in reached.items() if self.store.point_at(point.number) != point]
        if "vectors" not in diverged and self.vectors.reached == self.reached:
            lost = set(self.catalog.live()) - self.vectors.numbers()
            return diverged + ["vectors"] * bool(lost)
        return diverged

    def _load(self) -> Iterator[None]:
        """Fill the catalog and the links from the store; changes meanwhile are followed later."""
        reached, catalog, links = self.store.newest, Catalog(), Links()
        last = 0
        while outlines := self.store.outlines(last, CHANGES):
            catalog.take(outlines)
            last = outlines[-1].number
            yield
        last = 0
        while edges := self.store.edges_after(last, CHANGES):
            links.take(edges)
            last = edges[-1].number
            yield
        self.catalog, self.links, self._reached = catalog, links, reached
        self.notes.clear()
        self.replacements.follow(catalog.live())

    def _take_in(self, after: int) -> Iterator[None]:
        while changes := self.store.changes_after(after, CHANGES):
            after = changes[-1][0]
            notes = {number: at for at, what, number in changes if what == "note"}
            edges = {number for _, what, number in changes if what == "edge"}
            reached = self.store.point_at(after) or Point()
            self._take(reached, notes, edges, self.store.notes_by_number(sorted(notes)))
            yield

    def _take(
        self, reached: Point, notes: Mapping[int, int], edges: set[int], present: Sequence[Note]
    ) -> None:
        """Update the indexes up to `reached`; `notes`: {number: its last change}, `edges`: numbers,
        `present`: the changed notes that still exist.
        """
        before = self.reached
        self.notes.drop(notes)
        if reached > self.reached:
            self.catalog.take([outline_of(note) for note in present])
            self.catalog.drop(notes.keys() - {note.number for note in present})
            present_edges = self.store.edges_by_number(sorted(edges)) if edges else []
            self.links.take(present_edges, edges - {edge.number for edge in present_edges})
        self._forget(notes.keys() - {note.number for note in present})
        live = [note for note in present if note.state != "deleted"]
        gone = notes.keys() - {note.number for note in live}
        if reached > self.words.reached:
            new = [note for note in live if notes[note.number] > self.words.reached.number]
            self.words.take(reached, new, gone)
        if reached > self.vectors.reached:
            new = [note for note in live if notes[note.number] > self.vectors.reached.number]
            self.vectors.take(reached, new)
        self._reached = max(reached, self.reached)
        self.replacements.expect(live)
        if self.model:
            self.model.follow(before, self.reached, live)

    def rebuild(self, index: str) -> Iterator[None]:
        """Rebuild "words", "vectors" or "edges" from the store, in slices."""
        if index == "words":
            self.words.delete()
            self.words = Words(self._folder / "words")
        elif index == "vectors":
            self.vectors.delete()
            self.vectors = Vectors(self._folder / "vectors", self._embedder)
        else:
            yield from self._load()
        yield from self._take_in(min(self.reached, self.words.reached, self.vectors.reached).number)

    @property
    def has_to_embed(self) -> bool:
        """Whether `embed` has work."""
        return self.vectors.is_older or bool(self.model and self.model.has_work(self.reached))

    def embed(self) -> Generator[None, None, None]:
        """Embed notes whose text had an earlier form, and those that the model lacks, in steps."""
        yield from self.vectors.renew(self.store.notes_by_number, RENEWED)
        if self.model:
            yield from self.model.steps()

    def differences(self, live: Sequence[int]) -> dict[str, str]:
        """{index: its fault, "" for none}; `live`: the numbers of the notes that it should hold."""
        wanted = set(live)
        words, vectors = self.words.numbers(), self.vectors.numbers()
        catalog = set(self.catalog.live())
        edges = set(self.store.edge_numbers())
        return {
            "words": _difference(wanted - words, words - wanted),
            "vectors": _difference(wanted - vectors, set()),
            "edges": _difference(edges - self.links.numbers(), self.links.numbers() - edges)
            or _difference(wanted - catalog, catalog - wanted),
        }

    def erase(self, references: Sequence[str | int]) -> Generator[None, None, Erased]:
        """Remove notes and exchanges for good from the store and every index, in slices."""
        self.queries.write(self.now())
        erased = self.store.erase(references)
        self.follow()
        if erased.notes:
            self.words.mark_erased()
        if erased.exchanges:
            self.exchange_index.mark_erased()
        yield from self.forget()
        return erased

    def _forget(self, numbers: set[int]) -> None:
        """Remove notes from the vectors and replacements that the store no longer has, erased here
        or on another machine of the team; `forget` does the rest.
        """
        if erased := numbers and numbers & (self.vectors.numbers() | self.words.numbers()):
            self.words.mark_erased()
            self.vectors.drop(list(erased))
            self.replacements.drop(erased)
            if self.model:
                self.model.drop(list(erased))

    @property
    def holds_erased(self) -> bool:
        """Whether `forget` has work."""
        return self.words.holds_erased or self.exchange_index.holds_erased

    def forget(self) -> Generator[None, None, None]:
        """Make the word indexes anew that hold words of erased notes or exchanges, in slices."""
        if self.words.holds_erased:
            yield from self.rebuild("words")
        if self.exchange_index.holds_erased:
            yield from self.exchange_index.make_anew()

    def recall(
        self, query: str, selection: Selection, limit: int, alpha: float = 1.0, anchors: Sequence[int] = ()
    ) -> list[RecalledNote]:
        """The notes that match the query, the best first, a newer note before those that it
        outdates; with `as_of` as they were at that moment. The graph is walked from the best hits
        and the `anchors`.
        """
        with self.store.database.moment():
            self.follow()
            past_notes = self.notes_at(selection.as_of)
            wide = self._with_superseded(selection)
            most = max(limit, COMPARED) * (2 if wide != selection else 1)
            best = self.rank_notes(query, wide, most, alpha, anchors, past_notes, floor=True)
            loaded = self.notes.get([hit.number for hit in best if hit.number not in past_notes])
            notes = {note.number: note for note in loaded} | past_notes
            hits = [
                RecalledNote(notes[hit.number], hit.score, hit.parts, evidence=hit.evidence)
                for hit in best
                if hit.number in notes
            ]
            if wide != selection:
                hits = self._with_heirs(hits, selection)
            rows = self._with_newer(hits[:COMPARED], query, selection, past_notes)
        shown = {hit.note.number for hit in rows}
        return supported([*rows, *(hit for hit in hits[COMPARED:] if hit.note.number not in shown)], limit)

    def _with_newer(
        self, hits: Sequence[RecalledNote], query: str, selection: Selection, past_notes: Mapping[int, Note]
    ) -> list[RecalledNote]:
        """The hits with newer notes beside those that they may outdate, a newer one before those
        that it surely does.
        """
        mask, branches = self.catalog.mask(selection, past_notes), selection.elsewhere[1]
        newer = NewerNotes(self, [hit.note for hit in hits], mask, query, branches, past_notes)
        arrangement = arrange(newer.notes, branches)
        for pair in newer.replaced:
            arrangement.put_before(*pair)
        by_number = {hit.note.number: hit for hit in hits}
        rows, score = list[RecalledNote](), 0.0
        for note in (newer.notes[at] for at in arrangement.order):
            older = newer.outdated.get(note.number, ())
            hit = by_number.get(note.number) or RecalledNote(note, score, {"newer": score}, evidence=-1.0)
            if older or note.number in arrangement.newer:
                disagrees = tuple(n for n in older if n not in arrangement.newer)
                hit = replace(hit, newer=arrangement.newer.get(note.number, 0), disagrees=disagrees)
            rows.append(hit)
            score = hit.score * HEIR_SHARE
        return rows

    def _with_superseded(self, selection: Selection) -> Selection:
        """The selection with superseded notes, if there are any, unless it is of a past moment."""
        has_any = not selection.as_of and self.catalog.count_of("superseded")
        if not has_any or "superseded" in selection.states:
            return selection
        return replace(selection, states=(*selection.states, "superseded"))

    def _with_heirs(self, hits: Sequence[RecalledNote], selection: Selection) -> list[RecalledNote]:
        """The hits with the note that superseded it in the place of each superseded note: a
        question in the old note's words finds the new one.
        """
        mask, rows = self.catalog.mask(selection), dict[int, RecalledNote]()
        for hit in hits:
            note, score, steps = hit.note, hit.score, 0
            while not mask[note.number] and note.superseded_by and steps < HEIR_STEPS:
                heirs = self.store.notes_by_number([note.superseded_by])
                note, score, steps = (heirs or [note])[0], score * HEIR_SHARE, steps + 1
            previous = rows.get(note.number)
            if mask[note.number] and (previous is None or previous.score < score):
                parts = hit.parts if note is hit.note else {"superseded": score}
                rows[note.number] = RecalledNote(note, score, parts, evidence=hit.evidence)
        return sorted(rows.values(), key=lambda hit: -hit.score)

    def rank_notes(  # noqa: PLR0917
        self,
        query: str,
        selection: Selection,
        limit: int,
        alpha: float,
        anchors: Sequence[int] = (),
        past_notes: Mapping[int, Note] = MappingProxyType({}),
        *,
        floor: bool = False,
    ) -> list[Ranked]:
        """As `recall`, by number; `past_notes`: the notes that read otherwise at `as_of`. `floor`:
        none, if no note is about the subject of the query.
        """
        mask = self.catalog.mask(selection, past_notes)
        query_words = question_words(query)
        speakers = self.catalog.speakers_in(query)
        words = self.words.search(query_words, max(PROPOSED_MIN, PROPOSED * limit), past_notes)
        reworded = self._reworded(past_notes)
        meaning = self._meaning_of(reworded)
        # a model of sentences reads the question as it is
        wordings = (query, gist(query, speakers)) if meaning is self.vectors else (query,)
        lanes = Lanes(
            words=words,
            word_bits=self.words.word_bits(query_words, past_notes),
            cosines=self.cosines(wordings, mask, with_neighbours(words, self.catalog), reworded, meaning),
            ideal=self.words.ideal(query_words),
            speakers=tuple(speakers.values()),
            when=asks_about_time(query),
            elsewhere=self.catalog.is_on(*selection.elsewhere) if selection.elsewhere[1] else None,
        )
        now = self.now()
        similar = similarities(lanes, self.catalog, mask, now)
        if floor:
            known_share = self.words.known_share(query_words)
            related = self._meaning_of(reworded).related(int(np.count_nonzero(mask)), known_share)
            if not is_noted(lanes, similar, self.catalog, mask, related):
                return []
        best = rank(lanes, similar, self.catalog, 1.0, now, max(limit, ANCHORS))
        reached = dict[int, float]()
        if alpha < 1:
            starts = {hit.number: min(1.0, hit.score) for hit in best[:ANCHORS]}
            reached = self._near(starts | dict.fromkeys(anchors, 1.0), selection, past_notes, now)
            near = {number: worth for number, worth in reached.items() if mask[number]}
            similarity = {hit.number: hit.similarity for hit in best[:ANCHORS]}
            most = max(similarity.values(), default=0.0) or 1.0
            near |= {number: max(near.get(number, 0.0), value / most) for number, value in similarity.items()}
            best = rank(replace(lanes, near=near), similar, self.catalog, alpha, now, limit)
        best = best[:limit]
        if not floor or not best:
            return best
        values = evidence(lanes, np.array([hit.number for hit in best]), self.catalog, related)
        return [
            Ranked(hit.number, hit.score, hit.parts, math.inf if hit.number in reached else value)
            for hit, value in zip(best, values.tolist(), strict=True)
        ]

    def _reworded(self, past_notes: Mapping[int, Note]) -> dict[int, Note]:
        """The past notes whose text is not that of their vector; others were only closed since."""
        present = {
            note.number: embedded_text(note)
            for note in self.store.notes_by_number(list(past_notes))
            if note.state != "deleted"
        }
        return {at: note for at, note in past_notes.items() if embedded_text(note) != present.get(at)}

    def _meaning_of(self, reworded: Collection[int]) -> Vectors:
        return self.meaning if len(reworded) <= REWORDED_MAX else self.vectors

    @property
    def meaning(self) -> Vectors:
        """The vectors that answer questions: of the model, if they hold all notes."""
        return (self.model and self.model.complete_at(self.reached)) or self.vectors

    def cosines(
        self,
        wordings: Sequence[str],
        mask: Array,
        also: Iterable[int] = (),
        past_notes: Mapping[int, Note] = MappingProxyType({}),
        meaning: Vectors | None = None,
    ) -> Cosines:
        """As `Vectors.cosines`, of the built-in embedder when the model fails."""
        try:
            return (meaning or self.meaning).cosines(wordings, mask, also, past_notes)
        except CortexError:
            return self.vectors.cosines(wordings, mask, also, past_notes)

    def _near(
        self, starts: Mapping[int, float], selection: Selection, past_notes: Mapping[int, Note], now: int
    ) -> dict[int, float]:
        """{note: nearness in the graph}, over notes of any kind in the selection's project and
        states.
        """
        wide = Selection(project=selection.project, states=selection.states)
        return self.links.near(
            starts,
            selection.as_of or now,
            lambda at: wide.takes(past_notes[at]) if at in past_notes else self.catalog.sees(at, wide),
        )

    def notes_at(self, moment: int) -> dict[int, Note]:
        """The notes that read otherwise at the moment, as they were then; {} for moment 0."""
        return {note.number: note for note in self.store.past_notes(moment)} if moment else {}

    def count_use(self, numbers: Sequence[int], *, is_shown: bool = False) -> None:
        """Count a use of notes, or that a briefing showed them."""
        if numbers:
            self.store.count_use(numbers, is_shown=is_shown)
            self.notes.drop(numbers)
            self.catalog.count(numbers, "shown" if is_shown else "uses")


def supported(rows: Sequence[RecalledNote], limit: int) -> list[RecalledNote]:
    """At most `limit` rows: the first ones, and those with evidence that they are about the
    question, that were put beside a hit as newer, or that outdate a row before, unless perhaps no
    row is about it. `disagrees` names rows that are left.
    """
    is_unsure = max((hit.evidence for hit in rows), default=0.0) < SURE
    supported_rows = list[RecalledNote]()
    for at, hit in enumerate(rows[:limit]):
        is_about = hit.evidence >= 0 or "newer" in hit.parts or hit.disagrees
        if at < FEWEST or (is_about and not is_unsure):
            supported_rows.append(hit)
    numbers = {hit.note.number for hit in supported_rows}
    return [
        replace(hit, is_unsure=is_unsure, disagrees=tuple(old for old in hit.disagrees if old in numbers))
        if is_unsure or hit.disagrees
        else hit
        for hit in supported_rows
    ]


def _difference(missing: set[int], needless: set[int]) -> str:
    sentences = (
        f"{len(missing)} are missing" if missing else "",
        f"{len(needless)} are gone" if needless else "",
    )
    return ", ".join(sentence for sentence in sentences if sentence)
