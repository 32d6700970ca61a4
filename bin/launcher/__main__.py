"""The one command: refuse an old Python with a sentence, then hand the arguments to the module that owns the command.

Written so that even a very old Python 3 parses it: no annotations import, no f-strings. Nothing is imported before
the command is known, because `headers` and `statusline` are counted in milliseconds.
"""

import os
import sys

NEEDED = (3, 11)

# name: (module:function, one line of help). A function takes the arguments after the name and returns the exit code.
COMMANDS = {
    "ask": ("launcher.commands.ask:run", "ask a question about a code base"),
    "save": ("launcher.commands.notes:run_save", "keep a note"),
    "search": ("launcher.commands.finding:run_search", "find notes"),
    "get": ("launcher.commands.notes:run_get", "show notes whole"),
    "toc": ("launcher.commands.finding:run_toc", "list the notes as a session is shown them"),
    "state": ("launcher.commands.working_state:run", "get or set working state"),
    "log": ("launcher.commands.finding:run_log", "show how the notes changed"),
    "forget": ("launcher.commands.notes:run_forget", "drop notes, or take a change back"),
    "export": ("launcher.commands.transfer:run_export", "write notes into a file or a folder"),
    "import": ("launcher.commands.transfer:run_import", "keep the notes of a file or a folder"),
    "merge": ("launcher.commands.transfer:run_merge", "bring the notes of two identities of a repository together"),
    "session": ("launcher.commands.sessions:run", "list sessions and what was captured of them"),
    "dream": ("launcher.commands.dream:run", "tidy the notes, or take the last time back"),
    "stats": ("launcher.commands.window:run_stats", "show what the memory of a workspace holds and has cost"),
    "config": ("launcher.commands.config:run", "show, set or unset settings"),
    "reset": ("launcher.commands.window:run_reset", "forget a workspace's window and load it anew"),
    "empty": ("launcher.commands.window:run_empty", "forget a workspace's window"),
    "doctor": ("launcher.commands.doctor:run", "check the installation and say what to mend"),
    "logs": ("launcher.commands.logs:run", "show the server's log"),
    "statusline": ("launcher.commands.statusline:run", "print one line for Claude Code's status line"),
    "mcp": ("launcher.commands.mcp:run", "bridge stdio to the server, for other MCP clients"),
    "ensure": ("launcher.ensure:run", "start the server unless it is running"),
    "headers": ("launcher.headers:run", "start the server unless it is running and print the MCP auth header"),
    "serve": ("launcher.serve:run", "run the server in the foreground"),
    "stop": ("launcher.stop:run", "stop the server"),
    "restart": ("launcher.stop:run_restart", "stop the server and start it again"),
    "service": ("launcher.service:run", "install or remove a unit that starts the server at login"),
}


def main(arguments):  # type: ignore[no-untyped-def]  # annotations here would be evaluated by old Pythons
    if sys.version_info < NEEDED:
        sys.stderr.write(
            "live-memory: Python %d.%d is too old (%s); install Python %d.%d or newer.\n"
            % (sys.version_info[0], sys.version_info[1], sys.executable, NEEDED[0], NEEDED[1])
        )
        return 1
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    # In place of this very folder: its module names must not shadow the standard library's.
    sys.path[:] = [os.path.dirname(here), os.path.join(root, "hooks")] + [
        entry for entry in sys.path if os.path.abspath(entry or ".") != here
    ]
    from launcher.dispatch import dispatch

    return dispatch(COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))  # type: ignore[no-untyped-call]  # see main
