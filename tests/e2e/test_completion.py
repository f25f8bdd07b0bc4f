"""Completion with Tab in real shells: symbols and paths of the project, from running
workers only.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess

import pytest

from tests.e2e.conftest import BIN, CALL_S

pytestmark = pytest.mark.e2e

#: shell → a program that completes the last of these words there
TABS = {
    "bash": "source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
    "_shtab_cortex cortex; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
    "zsh": "compdef() {{ :; }}; compadd() {{ shift; print -rl -- $@; }}; source {script}; "
    "words=({words}); PREFIX=$words[-1]; _cortex_{kind}",
    "fish": "source {script}; complete -C '{words}'",
}
COMPLETIONS = [
    ("symbol", "cortex exact check_pa", "check_password"),
    ("path", "cortex outline store/", "store/ledger.go"),
]


@pytest.mark.parametrize("shell", TABS)
def test_a_shell_completes_symbols_and_paths(shell, shared_project, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    env = os.environ | shared_project.environment
    env |= {"PATH": f"{BIN}:{env['PATH']}", "HOME": str(tmp_path)}

    def run(*command: str) -> str:
        done = subprocess.run(
            command,
            cwd=shared_project.root,
            env=env,
            capture_output=True,
            text=True,
            timeout=3 * CALL_S,
            check=True,
        )
        return done.stdout

    script = tmp_path / "completion"
    script.write_text(run("cortex", "completion", shell))

    async def press() -> list[str]:
        async with shared_project.front() as front:
            await front.until_complete()
            return [
                await asyncio.to_thread(
                    run, shell, "-c", TABS[shell].format(script=script, words=words, kind=kind)
                )
                for kind, words, _ in COMPLETIONS
            ]

    completed = [
        [line.split()[0] for line in out.splitlines()] for out in asyncio.run(press())
    ]  # fish adds descriptions
    assert completed == [[name] for _, _, name in COMPLETIONS]


def test_where_no_workers_run_nothing_is_completed_and_none_are_started(project):
    done = project.run("complete", "symbol", "check_")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not project.processes()


#: shell → the line of its start-up file, and one that prints the registered completion
STARTED = {
    "bash": ("source <(cortex completion bash)", "complete -p cortex"),
    "zsh": (
        "autoload -Uz compinit && compinit -u -D; source <(cortex completion zsh)",
        "print $_comps[cortex]",
    ),
    "zsh-eval": (
        'autoload -Uz compinit && compinit -u -D; eval "$(cortex completion zsh)"',
        "print $_comps[cortex]",
    ),
    "fish": ("cortex completion fish | source", "complete -c cortex"),
}


@pytest.mark.parametrize("start", STARTED)
def test_the_line_of_a_start_up_file_registers_the_completion(start, tmp_path):
    shell = start.partition("-")[0]
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    line, question = STARTED[start]
    done = subprocess.run(
        [shell, "-c", f"{line}\n{question}"],
        env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=3 * CALL_S,
        check=True,
    )
    assert "cortex" in done.stdout
    assert done.stderr == ""
