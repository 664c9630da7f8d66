"""Runs the shell steps of docs/ci as their CI systems would.

ci_test.py COMMAND TOP"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import yaml

command, top = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
failed = 0


def expect(good, what):
    global failed
    failed += not good
    if not good:
        print("FAIL " + what)


DEVICE = "ram=8GiB,usable=6GiB,bandwidth=50GB/s,class=pc_cpu"


def budgets(limits):
    return f'schema: memwall/budgets/1\ndevices: ["{DEVICE}"]\nchecks:\n  - {{name: one, model: llama-3.2-1b, limits: {{{limits}}}}}\n'


(here / "passes.yaml").write_text(budgets("min_headroom: 1MiB"))
(here / "fails.yaml").write_text(budgets("max_memory: 1MiB"))
(here / "broken.yaml").write_text("schema: memwall/budgets/1\nchecks: 7\n")
rate = json.loads(subprocess.run([command, "check", "passes.yaml", "--json"], cwd=here, capture_output=True, text=True).stdout)["checks"][0]["rates"]["decode_tokens_per_second"]
(here / "undecided.yaml").write_text(budgets(f"min_decode: {rate}"))
subprocess.run([command, "check", "passes.yaml", "--baseline", "baseline.json", "--update-baseline"], cwd=here, capture_output=True, check=True)
grown = json.loads((here / "baseline.json").read_text())
grown["checks"][0]["bytes"]["needed"] -= 1
grown["checks"][0]["facts"]["context"] = "2,048"
(here / "smaller.json").write_text(json.dumps(grown))
EVIL = 'a "$(touch pwned)" file.yaml'
(here / EVIL).write_text(budgets("min_headroom: 1MiB"))

action = yaml.safe_load((top / "docs/ci/action.yml").read_text())
[step] = action["runs"]["steps"]
expect(action["runs"]["using"] == "composite" and step["shell"] == "bash", "a composite action of one bash step")
expect("${{" not in step["run"], "no input is pasted into the script")
expect({re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", v).group(1) for v in step["env"].values()} == set(action["inputs"]), "every input is used")


def github(**given):
    """Status, output lines, summary, outputs of one run."""
    values = {name: i["default"] for name, i in action["inputs"].items()} | {"memwall": command} | {k.replace("_", "-"): v for k, v in given.items()}
    files = {n: here / n for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for f in files.values():
        f.write_text("")
    environment = {**os.environ, **{n: str(f) for n, f in files.items()}, "GITHUB_ACTION_PATH": str(top / "docs/ci"),
                   **{k: values[v[len("${{ inputs."):-len(" }}")]] for k, v in step["env"].items()}}
    # As the runner starts `shell: bash`.
    result = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=here, env=environment, capture_output=True, text=True)
    return result.returncode, result.stdout, files["GITHUB_STEP_SUMMARY"].read_text(), files["GITHUB_OUTPUT"].read_text()


for name, status, annotation in (("passes", 0, "::notice"), ("fails", 1, "::error"), ("undecided", 3, "::warning")):
    code, out, summary, output = github(budgets=f"{name}.yaml", reports=f"reports {name}")
    expect(code == status and output == f"status={status}\n", f"GitHub {name}: status {code}, {output}")
    expect(out.startswith(annotation) and summary.startswith("## memwall check"), f"GitHub {name}: {out[:100]} {summary[:60]}")
    sarif = json.loads((here / f"reports {name}/memwall.sarif").read_text())
    expect(len(sarif["runs"][0]["results"]) == (0 if name == "passes" else 1), f"GitHub {name}: SARIF results")
    suite = ElementTree.parse(here / f"reports {name}/memwall.xml").getroot()[0]
    expect(suite.get("failures") == ("0" if name == "passes" else "1"), f"GitHub {name}: JUnit failures")
expect(github(budgets="undecided.yaml", undecided="pass")[0] == 0, "undecided: pass")
expect(github(budgets="broken.yaml")[0] == 2, "a broken file is status 2")
expect(github(budgets="passes.yaml", baseline="baseline.json", fail_on_regression="true")[0] == 0, "nothing changed")
code, out, summary, _ = github(budgets="passes.yaml", baseline="smaller.json")
expect(code == 0 and "Against the baseline" in summary, "a regression is reported")
expect(github(budgets="passes.yaml", baseline="smaller.json", fail_on_regression="true")[0] == 1, "one byte more fails when asked")
expect(github(budgets=EVIL)[0] == 0 and not (here / "pwned").exists(), "a hostile name is only a name")

template = yaml.safe_load((top / "docs/ci/gitlab.yml").read_text())
[job] = template.values()


def gitlab(**given):
    variables = {**job["variables"], "MEMWALL": command, **given}
    # GitLab's runner joins the lines into one script that stops at the first failure.
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    return subprocess.run(["bash", "-c", script], cwd=here, env={**os.environ, **variables}, capture_output=True, text=True)


for name, status in (("passes", 0), ("fails", 1), ("undecided", 3), ("broken", 2)):
    result = gitlab(MEMWALL_BUDGETS=f"{name}.yaml")
    expect(result.returncode == status, f"GitLab {name}: status {result.returncode} {result.stderr}")
    if status != 2:
        expect(ElementTree.parse(here / job["artifacts"]["reports"]["junit"]).getroot().tag == "testsuites", "JUnit artifact")
        expect((here / job["artifacts"]["paths"][0]).read_text().startswith("## memwall check"), "Markdown artifact")
expect(gitlab(MEMWALL_BUDGETS="undecided.yaml", MEMWALL_OPTIONS="--undecided pass").returncode == 0, "GitLab options")
expect(gitlab(MEMWALL_BUDGETS="passes.yaml", MEMWALL_BASELINE="smaller.json", MEMWALL_OPTIONS="--fail-on-regression").returncode == 1, "GitLab baseline")
expect(gitlab(MEMWALL_BUDGETS=EVIL).returncode == 0 and not (here / "pwned").exists(), "a hostile name is only a name")

print(f"{failed} failed")
sys.exit(failed > 0)
