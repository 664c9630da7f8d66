"""Completion as bash does it, scripts that shells can read, manual pages without warnings.

completion_test.py COMMAND"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

command = str(pathlib.Path(sys.argv[1]).resolve())
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
failed = 0


def expect(good, what):
    global failed
    failed += not good
    if not good:
        print("FAIL " + what)


def run(*arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, cwd=here, **more)


def subcommands(*path):
    """From --help, which CLI11 writes: names below 'Subcommands:'."""
    found = re.search(r"^Subcommands:\n(.*)", run(command, *path, "--help").stdout, re.S | re.M)
    return re.findall(r"^  ([a-z0-9-]+)", found.group(1), re.M) if found else []


def options(*path):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", run(command, *path, "--help").stdout, re.M))


script = here / "memwall.bash"
script.write_text(run(command, "completion", "bash").stdout)
(here / "budgets.yaml").write_text("")
DRIVER = """source memwall.bash
for line in "$@"; do
    COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
    _memwall
    printf '%s\\x1f' "${COMPREPLY[@]}"; printf '\\n'
done"""


def completed(*lines):
    result = run("bash", "-c", DRIVER, "bash", *lines)
    expect(not result.stderr, "bash says nothing else: " + result.stderr[:300])
    return [[w for w in l.split("\x1f") if w] for l in result.stdout.splitlines()]


everything = [c for c in subcommands() if c != "memwall"]  # the footer shows examples
expect(len(everything) > 12 and "plan" in everything, f"subcommands {everything}")
lines = [f"memwall {c} --" for c in everything]
offered, *by_command = completed("memwall ", *lines)
expect(sorted(offered) == sorted(everything), f"subcommands offered {offered}")
for name, words in zip(everything, by_command):
    expect({w for w in words if w.startswith("--")} == options(name), f"options of {name}: {set(words) ^ options(name)}")

models = [m["id"] for m in json.loads(run(command, "models", "--json").stdout)["models"]]
CASES = {
    "memwall pl": ["plan"],
    "memwall plan qwen2.5-7": [m for m in models if m.startswith("qwen2.5-7")],
    "memwall compare gemma-3-4b llama-3.2": [m for m in models if m.startswith("llama-3.2")],
    "memwall plan x --device raspberry-pi-5:": ["16GiB", "2GiB", "4GiB", "8GiB"],
    "memwall plan x --device=raspberry-pi-5:8": ["8GiB"],
    "memwall plan x --device hos": ["host"],
    "memwall plan x --quant Q4_K": ["Q4_K_L", "Q4_K_M", "Q4_K_S"],
    "memwall plan x --kv-k q8": ["q8_0"],
    "memwall plan x --runtime vl": ["vllm"],
    "memwall plan x --flash-attention ": ["auto", "off", "on"],
    "memwall plan x --gpu-layers a": ["all", "auto"],
    "memwall plan x --context ": [],
    "memwall plan x --draft qwen3-0": ["qwen3-0.6b"],
    "memwall recommend x --priority ": ["latency", "memory", "quality"],
    "memwall recommend x --preset c": ["chat", "code"],
    "memwall check bud": ["budgets.yaml"],
    "memwall check budgets.yaml --format j": ["json", "junit"],
    "memwall check budgets.yaml --undecided ": ["fail", "pass"],
    "memwall models sh": ["show"],
    "memwall models show qwen3-0": ["qwen3-0.6b"],
    "memwall devices show pixel-9-": ["pixel-9-pro"],
    "memwall completion ": ["bash", "fish", "zsh"],
    "memwall man rep": ["report"],
}
for (line, wanted), words in zip(CASES.items(), completed(*CASES)):
    expect(sorted(words) == sorted(wanted), f"{line!r} gives {words}, not {wanted}")
# What is offered is understood: every device of the list opens.
for device in completed("memwall plan x --device ")[0]:
    if not (here / device).exists() and ":" in device:
        shown = run(command, "devices", "show", device)
        expect(shown.returncode == 0, f"device {device} is offered but {shown.stderr}")

for shell in ("zsh", "fish"):
    text = run(command, "completion", shell).stdout
    expect(all(c in text for c in everything), f"{shell} knows every subcommand")
    path = here / f"memwall.{shell}"
    path.write_text(text)
    if shutil.which(shell):
        check = run(shell, "-n", str(path), env={**os.environ, "HOME": str(here)})
        expect(check.returncode == 0 and not check.stderr, f"{shell} reads its script: {check.stderr[:300]}")
if shutil.which("fish"):
    words = run("fish", "-c", "source memwall.fish; complete -C 'memwall recommend x --priority '", env={**os.environ, "HOME": str(here)}).stdout
    expect([l.split("\t")[0] for l in words.splitlines()] == ["latency", "memory", "quality"], f"fish gives {words}")
expect(run(command, "completion", "csh").returncode == 2, "another shell is refused")

# Manual pages: without a warning, with every option of the program.
pages = here / "man1"
pages.mkdir()
run(command, "man", "--output", str(pages))
expect({p.name for p in pages.iterdir()} == {"memwall.1", *(f"memwall-{c}.1" for c in everything)}, "a page a subcommand")
LINTS = [l for l in (["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-ww", "-man", "-z"]) if shutil.which(l[0])]
for page in sorted(pages.iterdir()):
    for lint in LINTS:
        result = run(*lint, str(page), env={**os.environ, "LC_ALL": "C"})
        expect(not (result.stdout + result.stderr).strip(), f"{lint[0]} {page.name}: {(result.stdout + result.stderr)[:300]}")
    text = page.read_text()
    expect(all(f"\n.SH {s}" in text for s in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS")), f"sections of {page.name}")
    name = page.stem.removeprefix("memwall").lstrip("-")
    for option in options(*([name] if name else [])):
        expect(option.replace("-", "\\-") in text, f"{page.name} lacks {option}")
expect(run(command, "man", "plan").stdout == (pages / "memwall-plan.1").read_text(), "man plan prints its page")
expect(run(command, "man", "nothing").returncode == 2, "an unknown page is refused")

print(f"{failed} failed")
sys.exit(failed > 0)
