"""Notes in the formats of the world outside: JSON, `.agd`, Markdown, Claude Code's own memory folder. Pure."""
