"""The launcher: finds, starts, replaces and stops the one server, and carries every command of `bin/live-memory`."""
