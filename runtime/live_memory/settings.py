"""Every setting, in one table: it yields the environment's names, validation, `config show` and docs/settings.md (a test
keeps that page equal). Absent: where values come from, which `configuration.py` knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from live_memory.setting_rows import Row, rows_of, setting


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force. Units are in the names; see each row's help."""

    port: int = setting(
        7711, "The port on 127.0.0.1 that the server listens on.", minimum=1, maximum=65535, topic="Server"
    )
    idle_exit_s: int = setting(21600, "Seconds without any request after which the server saves and exits.", minimum=1)
    install_retry_s: int = setting(
        600, "Seconds after which a failed installation of the packages is tried again.", minimum=1
    )
    max_body_bytes: int = setting(8388608, "The largest request body accepted.", minimum=1024)
    log_level: str = setting("info", "What the log holds.", choices=("debug", "info", "warning", "error"))
    log_max_bytes: int = setting(
        5242880, "The size at which the log file is rotated; four old ones are kept.", minimum=65536
    )

    provider: str = setting(
        "",
        "Who answers: empty picks by the keys at hand; `passages` never calls a model; `scripted` is a canned model for trying things out.",
        choices=("", "anthropic", "openai", "passages", "scripted"),
        topic="Model",
    )
    model: str = setting("", "The model's name at the provider; empty takes the provider's cheap default.")
    base_url: str = setting("", "The provider's address; empty takes the provider's own.")
    api_key: str = setting("", "The provider's key; empty takes it from the environment.", secret=True)
    oauth: str = setting(
        "auto",
        "`auto` answers on the Claude subscription when no key is at hand; `off` never reads its token.",
        choices=("auto", "off"),
    )
    price_input_usd: float | None = setting(
        None, "Price of a million uncached prompt tokens; set, it wins over the price table.", minimum=0
    )
    price_output_usd: float | None = setting(
        None, "Price of a million output tokens; set, it wins over the price table.", minimum=0
    )
    price_cache_read_usd: float | None = setting(
        None, "Price of a million prompt tokens read from the cache; set, it wins over the price table.", minimum=0
    )
    price_cache_write_usd: float | None = setting(
        None, "Price of a million prompt tokens written to the cache; set, it wins over the price table.", minimum=0
    )
    daily_budget_usd: float = setting(
        2.0,
        "What models may cost in a day (UTC), over all workspaces; above it, answers are passages. 0 sets no limit.",
        minimum=0,
    )
    daily_budget_tokens: int = setting(
        0,
        "How many tokens models may take in a day (UTC), those read from a cache not counted; above it, answers are "
        "passages. 0 sets no limit.",
        minimum=0,
    )
    background_budget_ratio: float = setting(
        0.25,
        "The share of the daily budgets that work may take which no question waits for; 0 allows no such work.",
        minimum=0,
        maximum=1,
    )
    keep_warm: bool = setting(
        False,
        "Ask the provider for one token now and then, so that its cache keeps the window while nobody asks; stops where "
        "that has cost as much as writing the window again.",
    )
    keep_warm_interval_s: int = setting(
        0, "Seconds between two such requests; 0 takes what suits the provider's cache.", minimum=0
    )
    keep_warm_max_idle_s: int = setting(
        1800, "How long after its last question a window is kept warm at most.", minimum=0
    )
    trace_prompts: str = setting(
        "",
        "A folder into which every request to a model is written, for `live-memory doctor prompts`; empty writes none.",
    )

    default_timeout_s: float = setting(
        60.0,
        "Seconds a question may take before it is answered with what is known so far; Claude Code ends a call at 180.",
        minimum=1,
        maximum=170,
        topic="Questions",
    )
    max_answer_tokens: int = setting(
        2048, "How long an answer may be when the caller names no length.", minimum=256, maximum=16384
    )
    max_tool_rounds: int = setting(25, "How many rounds of tool calls a question may take.", minimum=1, maximum=100)
    force_explore_when_cold: bool = setting(
        True, "Send a first answer that rests on nothing back once, to be looked up in the code."
    )
    concurrency: str = setting(
        "parallel",
        "`parallel` answers several questions on one workspace at once; `serial` one after the other.",
        choices=("parallel", "serial"),
    )
    max_parallel_queries: int = setting(8, "How many questions run at once on one workspace.", minimum=1, maximum=256)
    max_queued_questions: int = setting(
        256, "How many questions may wait on one workspace before the next is turned away.", minimum=0, maximum=4096
    )
    async_tools: bool = setting(
        False,
        "Offer two more MCP tools, one that takes a question and returns at once, and one that fetches its answer later.",
    )

    max_context_tokens: int = setting(
        0, "The window's size; 0 takes the model's own, below its price tier.", minimum=0, topic="Window"
    )
    tree_max_tokens: int = setting(
        8000, "How much of the prompt the directory tree may take; never more than a tenth of the window.", minimum=0
    )

    compaction_threshold: float = setting(
        0.85, "The share of the window above which it is compacted.", minimum=0.1, maximum=0.95
    )
    compaction_floor: float = setting(
        0.6,
        "The share of the window that a compaction leaves filled; below compaction_threshold, or every question compacts.",
        minimum=0.05,
        maximum=0.9,
    )
    ledger_max_tokens: int = setting(
        2048, "How much of the prompt the distilled facts may take; the rest is searched per question.", minimum=0
    )
    distill_min_interval_s: int = setting(
        60,
        "Seconds between two distillations of observed files; a window that fills sooner sheds their text instead.",
        minimum=0,
    )
    summary_model: str = setting(
        "", "The provider's model that distils what leaves the window; empty takes the one that answers."
    )

    reuse_answers: bool = setting(
        True, "Give the answer of before to a question asked again while no file that it rests on has changed."
    )
    passive_ingestion: bool = setting(True, "Learn from the files that `POST /notify` tells of.")
    passive_max_file_bytes: int = setting(
        262144, "The largest file whose text the window takes over without having asked for it.", minimum=0
    )
    file_globs: str = setting(
        "",
        "The files to learn from, as patterns like `docs/*.md` parted by commas, where `*` also crosses `/`; empty means all.",
    )
    preload_globs: str = setting(
        "", "The files that a window knows from its beginning, as globs like `docs/**/*.md` parted by commas."
    )
    preload_max_total_bytes: int = setting(
        1048576, "How much preload_globs may bring; never more than fits below compaction_floor.", minimum=0
    )

    toc_budget_tokens: int = setting(
        750,
        "How much of a session's beginning the table of contents of the notes may take; 0 shows none.",
        minimum=0,
        maximum=2300,
        topic="Notes",
    )
    approve_saves: bool = setting(
        False,
        "Leave each save of a note by Claude to Claude Code's own permission question; off, saves are allowed, logged, and "
        "can be taken back.",
    )
    note_max_bytes: int = setting(65536, "How long a note may be; a longer one is refused.", minimum=1024)
    notes_max_count: int = setting(
        100000, "How many notes a repository may have; beyond that, new ones are refused.", minimum=1
    )
    log_keep_days: int = setting(
        90, "Days for which the log of the notes is kept, from which any write can be taken back.", minimum=1
    )

    recall_disabled: bool = setting(False, "Never add notes to a prompt.", topic="Recall")
    recall_top_k: int = setting(3, "How many notes a prompt is given at most.", minimum=1, maximum=10)
    recall_min_words: int = setting(
        3, "Prompts with fewer words that carry meaning are left alone.", minimum=1, maximum=64
    )
    recall_min_word_len: int = setting(
        3, "Words of a prompt with fewer letters are not looked for.", minimum=1, maximum=32
    )
    recall_token_budget: int = setting(1200, "How many tokens a prompt's notes may take.", minimum=100, maximum=2400)
    recall_max_prompt_chars: int = setting(
        4000, "Longer prompts are taken for pasted text, and left alone.", minimum=16, maximum=10000
    )
    recall_precision: float = setting(
        0.99, "The share of prompts without a note to them that are to stay without one.", minimum=0.5, maximum=0.9999
    )
    recall_body_only: bool = setting(
        False, "Give a prompt notes too whose title and description share no word with it, only their body."
    )
    recall_superseded: bool = setting(False, "Give a prompt notes too that others have superseded.")
    recall_no_global: bool = setting(False, "Give a prompt notes of its own repository only.")
    recall_no_fuzzy: bool = setting(
        False, "Count the same words only, not relatives like `catalog` and `catalogo` that begin alike."
    )
    recall_anchor_min: int = setting(
        2, "How many relatives are needed where no word is the same.", minimum=1, maximum=64
    )
    recall_code_line_ratio: float = setting(
        0.4, "Prompts with a larger share of indented lines are taken for code, and left alone.", minimum=0, maximum=1
    )
    recall_facts: bool = setting(False, "Give a prompt facts too that were distilled from the window.")
    recall_langs: str = setting(
        "en",
        "The languages whose words without meaning never count, beside the prompt's own, as codes parted by commas: en, it, "
        "es, fr, de, pt.",
        several=("en", "it", "es", "fr", "de", "pt"),
    )
    recall_stopwords_file: str = setting("", "A file of more words that never count, one a line; `#` begins a comment.")
    recall_debug: bool = setting(False, "Write into the log which notes a prompt was given, and why others were not.")

    semantic: str = setting(
        "off",
        "Find notes by their meaning too, in other words and other languages: `local` in the server's process (downloads 20 "
        "to 40 MB once, takes 160 MB of memory), `ollama`, or an `endpoint` like OpenAI's, which is then sent notes and prompts.",
        choices=("off", "local", "ollama", "endpoint"),
        topic="Meaning",
    )
    semantic_base_url: str = setting(
        "",
        "The address of Ollama or of the endpoint, above its `/embeddings`; empty takes this machine's Ollama, or OpenAI's.",
    )
    semantic_model: str = setting(
        "",
        "The model that tells meanings; empty takes nomic-embed-text of Ollama, text-embedding-3-small of an endpoint.",
    )
    semantic_api_key: str = setting("", "The key of the endpoint; no other key is ever sent there.", secret=True)

    capture: bool = setting(
        True,
        "Distil what was decided and found out in a session into notes, once it is over; off, nothing of a transcript is "
        "read or sent.",
        topic="Capture",
    )
    capture_model: str = setting(
        "", "The provider's model that distils sessions; empty takes the one of summary_model, or that answers."
    )
    capture_min_turns: int = setting(
        2, "How many prompts of the user make a session worth a model's time, or capture_min_edits.", minimum=1
    )
    capture_min_edits: int = setting(
        1, "How many edits of files make a session worth a model's time whatever its prompts; 0 counts none.", minimum=0
    )
    capture_min_chars: int = setting(
        400,
        "How many characters the user and Claude must have said for a session to be worth a model's time.",
        minimum=0,
    )
    capture_idle_s: int = setting(
        900,
        "Seconds without a sign of life after which a session that was never closed counts as over.",
        minimum=1,
    )
    capture_retries: int = setting(
        3, "How often a session is tried in a row when the model fails; after that it waits for an hour.", minimum=1
    )
    capture_backoff_s: int = setting(
        30, "Seconds until the second try; each later one waits as much longer again.", minimum=0
    )
    capture_stale_claim_s: int = setting(
        300, "Seconds after which the work of a server that was killed is taken over by the next.", minimum=1
    )
    capture_subagents: bool = setting(False, "Distil also what the session's subagents said.")
    dream_disabled: bool = setting(
        False, "Let nothing tidy the notes by itself; the command `dream --force` still does.", topic="Dream"
    )
    dream_min_hours: float = setting(24.0, "Hours between two dreams of a repository.", minimum=0)
    dream_min_sessions: int = setting(5, "Sessions that must have ended since the last dream.", minimum=0)
    dream_model: str = setting(
        "", "The provider's model that advises a dream; empty takes the one of summary_model, or that answers."
    )
    dream_max_requests: int = setting(
        20, "How many requests to a model one dream may make, within the background's share; 0 asks none.", minimum=0
    )

    redaction_off_roots: str = setting(
        "",
        "Workspaces in whose text secrets are NOT taken out, as absolute paths of their roots parted by commas; secret files stay "
        "unread, and facts and notes are always cleaned. Turned on again, such a window is forgotten.",
        topic="Privacy",
    )

    canonicalize_workspace: bool = setting(
        True, "Let a folder inside a git checkout share the memory of the checkout's root.", topic="Workspaces"
    )
    repo_root_mode: str = setting(
        "nearest",
        "Inside a submodule: `nearest` is the submodule itself, `outermost` the checkout that holds it.",
        choices=("nearest", "outermost"),
    )


SETTINGS: Mapping[str, Row] = {row.name: row for row in rows_of(Settings)}


def roots_without_redaction(settings: Settings) -> tuple[str, ...]:
    """The roots in redaction_off_roots, as they are written there."""
    return listed(settings.redaction_off_roots)


def listed(raw: str) -> tuple[str, ...]:
    """What stands in `raw`, parted by commas."""
    return tuple(part.strip() for part in raw.split(",") if part.strip())
