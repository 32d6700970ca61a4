"""Whether a note is shown to somebody who did not ask for it: rather nothing than something wrong. Pure.

Measured (tests/bench/bench_recall.py): what tells a note that bears on a prompt from one that shares words with it is the
share of the prompt that it covers, where a word that no note has ever held counts most, and how many words it shares.
Floors on the score tell neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from live_memory.notes.candidates import Vocabulary
from live_memory.notes.query import Query, weak_terms
from live_memory.notes.ranking import Ranked, idf_of

MIN_MATCHES = 3  # terms that a note shares with the prompt, of whatever sort
MIN_WORDS = 2.0  # words, where everyday ones and names count less
LOOSE_PRECISION = 0.98  # who aims at less is asked for less
LOOSE_MATCHES, LOOSE_WORDS = 2, 1.5
MIN_PLAIN_WORDS = 1.0  # of them no names
WEAK_WORTH = 0.5
NAME_WORTH = 0.5
RELATIVE_WORTH = 0.67  # of a word, as a share of the prompt
BODY_WORTH = 0.6  # of a word that stands in the body alone, as well
COMMON_RATIO = 0.5  # what more of the notes hold opens nothing
MIN_NOTES_FOR_COMMON = 8

# The share that a note of a small store must cover, by the rate of wrong ones aimed at: a line in the rate's logarithm
# through what the tuning half of the set showed.
BASE_RATE = 0.01
BASE_COVERAGE = 0.2
COVERAGE_PER_DECADE = 0.12
MIN_RATE = 1e-4

# With nearness in meaning: what it weighs beside what is covered, and what both must come to; tuned on the same half.
MEANING_WEIGHT = 1.5
BASE_FUSED = 1.0
FUSED_PER_DECADE = 0.1


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a note has in common with a prompt."""

    coverage: float
    matches: int
    words: float
    plain_words: float
    is_curated: bool  # whether something of it stands in the title or the description
    exact: int
    related: int
    nearness: float = 0.0  # in meaning; 0 where it is not known

    @property
    def fused(self) -> float:
        """Words and meaning in one number: what is covered counts more the more words do it."""
        return self.coverage * math.log1p(self.exact + self.related / 2) + MEANING_WEIGHT * self.nearness


NO_EVIDENCE = Evidence(0.0, 0, 0.0, 0.0, False, 0, 0)


@dataclass(frozen=True, slots=True)
class Gate:
    """How much is asked for: the share to cover, the relatives that are needed where nothing matches exactly, whether words
    that stand only in a body are enough, how many terms and words a note must share with the prompt, and what words and
    meaning together open it with."""

    coverage: float
    min_relatives: int = 2
    body: Literal["beside", "alone"] = "beside"
    min_matches: int = MIN_MATCHES
    min_words: float = MIN_WORDS
    fused: float = math.inf

    def aiming_at(self, precision: float) -> Gate:
        """The same for a rate of right notes that may be lower."""
        if precision >= LOOSE_PRECISION:
            return self
        return replace(self, min_matches=LOOSE_MATCHES, min_words=LOOSE_WORDS)

    def why_shut(self, evidence: Evidence) -> str:
        """Why a note does not pass, in a word or two for the log; empty when it does."""
        if evidence.fused >= self.fused:
            return ""
        if evidence.matches < self.min_matches or evidence.words < self.min_words:
            return "few words"
        if evidence.plain_words < MIN_PLAIN_WORDS:
            return "names alone"
        if not evidence.exact and evidence.related < self.min_relatives:
            return "few relatives"
        if not evidence.is_curated and self.body == "beside":
            return "body alone"
        return "" if evidence.coverage >= self.coverage else "little covered"


def prior_coverage(precision: float) -> float:
    """The share to cover in a store that nothing is known of yet, so that about `precision` of what is shown is right."""
    rate = max(MIN_RATE, 1.0 - precision)
    return max(0.0, BASE_COVERAGE + COVERAGE_PER_DECADE * math.log10(BASE_RATE / rate))


def prior_fused(precision: float) -> float:
    """What words and meaning must come to together, likewise."""
    rate = max(MIN_RATE, 1.0 - precision)
    return BASE_FUSED + FUSED_PER_DECADE * math.log10(BASE_RATE / rate)


def evidence_of(query: Query, ranked: Ranked, vocabulary: Vocabulary) -> Evidence:
    """What `ranked` has in common with `query`."""
    idf = idf_of(vocabulary)
    whole = covered = words = plain_words = 0.0
    for term in query.terms:
        mass = query.worth(term) * idf(term)
        whole += mass
        likeness = 1.0 if term in ranked.exact else RELATIVE_WORTH if term in ranked.related else 0.0
        if not likeness:
            continue
        share = WEAK_WORTH if term in weak_terms() else 1.0
        share *= NAME_WORTH if term in query.names else 1.0
        covered += mass * share * likeness * (1.0 if term in ranked.curated else BODY_WORTH)
        if not _is_common(term, vocabulary):
            words += query.worth(term) * share
            plain_words += query.worth(term) * share * (term not in query.names)
    return Evidence(
        coverage=covered / whole if whole else 0.0,
        matches=len(ranked.exact) + len(ranked.related),
        words=words,
        plain_words=plain_words,
        is_curated=bool(ranked.curated),
        exact=len(ranked.exact),
        related=len(ranked.related),
    )


def _is_common(term: str, vocabulary: Vocabulary) -> bool:
    held_by = vocabulary.frequencies.get(term, 0)
    return vocabulary.notes >= MIN_NOTES_FOR_COMMON and held_by > vocabulary.notes * COMMON_RATIO
