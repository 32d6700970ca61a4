"""What `live-memory` does beyond the server's life: one small module a command. Each gives `run(arguments)`, the exit code."""
