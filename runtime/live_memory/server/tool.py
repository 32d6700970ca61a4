"""The tools as their callers see them: the words that bring a model to ask, and the shape of its arguments. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from live_memory.server.definition import ToolDefinition

TOOL_NAME = "ask_live_memory"
TOOL_TITLE = "Ask Live Memory"
READS: Mapping[str, object] = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}

INSTRUCTIONS = """\
Live Memory is a memory of this user's code bases. A second model has read the repository before, remembers what it learned over \
sessions, and reads what it does not know yet. Before you explore code by searching and reading files one by one, ask it with \
ask_live_memory: where something is, how it works, what depends on it, why it is the way it is. Ask one full question in plain \
words and name the identifiers you know. Its citations (path:line) were checked against the files: open them when you are about \
to edit. It only reads, and writes nothing into the repository.

It also keeps notes that outlive the session: decisions and why, root causes, preferences, open work. memory_search and \
memory_get find and fetch them, memory_save keeps one (when the user says to remember something, or something was decided or \
found out), memory_toc lists them. Where these tools are not loaded, find them with the tool search."""

TOOL_DESCRIPTION = """\
Ask the memory of this code base a question in plain words: where something is, how it works, what calls it, why it is so. \
It has read the repository before, looks up what it does not know yet, and answers with path:line citations that were checked \
against the files. Quicker and cheaper than exploring by yourself: ask it first. Read-only. The answer ends with one line of \
account: model, time, tokens, cost, and how many citations are fresh, stale or unverified."""

INPUT_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "description": "One full question. Name the identifiers, files or behaviour you mean, and what you want to know.",
        },
        "cwd": {
            "type": "string",
            "description": "The absolute path of the root of the repository that the question is about.",
        },
        "max_answer_tokens": {
            "type": "integer",
            "minimum": 0,
            "description": "How long the answer may be, in tokens; leave it out for the usual length.",
        },
    },
    "required": ["question"],
}

ASK = ToolDefinition(TOOL_NAME, TOOL_TITLE, TOOL_DESCRIPTION, INPUT_SCHEMA, READS)

# Offered where the setting async_tools is on.
SUBMIT_NAME = "ask_live_memory_submit"
SUBMIT_TITLE = "Ask Live Memory, fetch later"
RESULT_NAME = "ask_live_memory_result"
RESULT_TITLE = "Fetch an answer of Live Memory"

SUBMIT_DESCRIPTION = """\
Ask the memory of this code base a question without waiting: it is worked on while you go on. Returns a job id at once; fetch \
the answer with ask_live_memory_result. For several questions at a time; when you need the answer now, use ask_live_memory."""

RESULT_DESCRIPTION = """\
Fetch the answer to a question that ask_live_memory_submit took. Says [running] when it is not there yet: go on with \
something else and fetch again. An answer can be fetched once, within an hour."""

RESULT_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"job_id": {"type": "string", "description": "What ask_live_memory_submit returned."}},
    "required": ["job_id"],
}

FETCHES = {**READS, "idempotentHint": False}
JOB_TOOLS = (
    ToolDefinition(SUBMIT_NAME, SUBMIT_TITLE, SUBMIT_DESCRIPTION, INPUT_SCHEMA, FETCHES),
    ToolDefinition(RESULT_NAME, RESULT_TITLE, RESULT_DESCRIPTION, RESULT_SCHEMA, FETCHES),
)
