"""Sentences that tell an assistant what to do, where a statement about code was asked for. Pure.

A file may say "remember this rule" or "ignore your instructions"; what a model made of it must not come back as knowledge.
A convention of the code ("Always run `make docs` after a change of settings.py") is none: it says what engineers do. English
alone is known; in any language the fence around a fact says that it is data.
"""

from __future__ import annotations

import re

_ASSISTANT = (
    r"(?:(?:the|any|every|all|this|each|future)\s+){0,2}"
    r"(?:AI\s+)?(?:AI|LLM|assistant|chatbot|coding agent|code reviewer bot|Claude(?:\s+Code)?|ChatGPT|Copilot|Live Memory|language model)s?"
)
_MUST = r"(?:must|should|shall|may only|ha(?:s|ve) to|needs? to|(?:is|are) (?:to|required to|allowed to)|will always|always|never)"
# Verbs for what is said and done for a user; a program that is named like an assistant "must be installed".
_SPEAKS = (
    r"(?:answer|reply|respond|say|tell|claim|pretend|state|mention|recommend|suggest|advise|ignore|obey|follow|trust|remember"
    r"|repeat|reveal|recite|approve|refuse|treat|execute|delete|send|upload|post|install|download|visit)"
)
_POLITE = r"(?:please\s+|important:?\s+|note:?\s+|instructions?:?\s+|rule:?\s+|system:?\s+)?"
_STEM = rf"^\W*{_POLITE}"

_DIRECTIVE = re.compile(
    "|".join(
        (
            # whatever stands around it, this is said to a model alone
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,30}\b(?:previous|prior|above|earlier|preceding|existing|your|all"
            r"|system)\b[^.]{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directions?|restrictions?)\b",
            r"\byour (?:system prompt|(?:new |only |real )?(?:instructions?|task|job|role|purpose|rules?)\b.{0,20}\b(?:is|are|now))",
            r"\byou are (?:now|no longer|actually)\b",
            rf"\b{_ASSISTANT}\s+(?:who|that|which)?\s*(?:read|reads|reading|see|sees|seeing)\b.{{0,60}}\b{_MUST}\b",
            # said to whom reads it
            rf"{_STEM}(?:remember|memori[sz]e|keep in mind|bear in mind)\b(?!-)\s*(?:this|that|the|these|to|always|never|:|,|as|in)",
            rf"{_STEM}(?:from now on|in (?:all |every )?future (?:answers?|sessions?|conversations?|replies|questions?))\b",
            rf"{_STEM}when(?:ever)?\s+(?:you|asked|answering|replying|responding|(?:the |a |any )?(?:user|somebody|someone|anyone)"
            r" asks?)\b",
            rf"{_STEM}you\s+(?:must|should|shall|may not|may only|are to|are required|have to|need to|will|can(?:not|'t)|always|never"
            r"|do not|don't)\b",
            rf"{_STEM}{_ASSISTANT}\s+{_MUST}\s+(?:not\s+|never\s+|always\s+|first\s+){{0,2}}{_SPEAKS}\b",
            rf"{_STEM}(?:always\s+|never\s+|do not\s+|don't\s+|only\s+)?(?:(?:answer|reply|respond)\s+(?:with|that|to|only|in|every|all"
            r"|any|as|questions?)|(?:say|tell|claim|pretend)\s+(?:that|to|the (?:user|developer|human|caller)|everyone|anyone|them"
            r"|users)|act as\b|obey\b|follow (?:these|the following|this|my)\b)",
        )
    ),
    re.IGNORECASE,
)


def is_directive(sentence: str) -> bool:
    """Whether the sentence speaks to an assistant, and tells it what to do or to keep."""
    return _DIRECTIVE.search(sentence) is not None
