"""Runs every memwall command of the README and docs and compares the outputs that are printed there.

readme_test.py COMMAND TOP [--write]: --write puts the present outputs into the pages."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

command, top = sys.argv[1], pathlib.Path(sys.argv[2])
environment = {**os.environ, "XDG_CONFIG_HOME": "/nonexistent", "NO_COLOR": "1"}
BLOCK = re.compile(r"```sh\n(.*?)```(\s*```text\n(.*?)```)?", re.S)
passed = failed = 0


def run(line):
    arguments = [command if word == "scripts/memwall" else word for word in shlex.split(line)]
    return subprocess.run(arguments, capture_output=True, text=True, cwd=top, env=environment)


def check(match):
    global passed, failed
    lines = [l for l in match.group(1).splitlines() if l.startswith("scripts/memwall")]
    out = ""
    for line in lines:
        result = run(line)
        out += result.stdout
        good = result.returncode == 0 and not result.stderr
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAIL {line}: exit status {result.returncode} {result.stderr}")
    if match.group(2) and lines:
        same = match.group(3) == out
        passed, failed = passed + same, failed + (not same)
        if not same:
            print(f"FAIL output of {lines} is not what the page shows")
        return f"```sh\n{match.group(1)}```\n\n```text\n{out}```"
    return match.group(0)


for page in [top / "README.md", *sorted((top / "docs").glob("*.md"))]:
    text = page.read_text()
    new = BLOCK.sub(check, text)
    if "--write" in sys.argv:
        page.write_text(new)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 and "--write" not in sys.argv)
