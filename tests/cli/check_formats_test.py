"""What check writes for CI systems: JUnit XML, SARIF, GitHub annotations, Markdown; and what its statuses mean.

check_formats_test.py COMMAND TOP"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as ElementTree

import jsonschema

command, top = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
failures = []


def expect(good, what):
    if not good:
        failures.append(what)
        print("FAIL " + what)


def check(name, *arguments):
    return subprocess.run([command, "check", name, *arguments], capture_output=True, text=True, cwd=here)


# A name with every character that XML, URIs and GitHub escape; one passed, failed, undecided and broken each.
DEVICE = "ram=8GiB,usable=6GiB,bandwidth=50GB/s,class=pc_cpu"
BUDGETS = f"""schema: memwall/budgets/1
devices: ["{DEVICE}"]
checks:
  - {{name: 'a <b> & "c": 100%, d', model: llama-3.2-1b, limits: {{max_memory: 1MiB, min_decode: 100000}}}}
  - {{name: passes, model: llama-3.2-1b}}
  - {{name: undecided, model: llama-3.2-1b, limits: {{min_decode: 22}}}}
  - {{name: broken, model: no-such-model}}
"""
NAME = "my budgets ü.yaml"
(here / NAME).write_text(BUDGETS)
document = json.loads(check(NAME, "--json").stdout)
outcomes = {c["name"]: c["outcome"] for c in document["checks"]}
# The undecided one asks for the middle of what was just found, so it stays undecided when the data change.
rate = next(c for c in document["checks"] if c["name"] == "undecided")["rates"]["decode_tokens_per_second"]
(here / NAME).write_text(BUDGETS.replace("min_decode: 22", f"min_decode: {rate}"))
document = json.loads(check(NAME, "--json").stdout)
outcomes = {c["name"]: c["outcome"] for c in document["checks"]}
expect(list(outcomes.values()) == ["failed", "passed", "undecided", "failed"], f"outcomes {outcomes}")

# JUnit, by the schema of the Jenkins plugin that reads it.
JUNIT_SCHEMA = top / "tests/data/schema/jenkins-junit-4.xsd"


def junit_errors(text):
    done = subprocess.run(["xmllint", "--noout", "--schema", JUNIT_SCHEMA, "-"], input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


junit = check(NAME, "--format", "junit").stdout
expect(not junit_errors(junit), "JUnit: " + junit_errors(junit))
expect(junit_errors(junit.replace("testcase", "case")), "the JUnit schema refuses other elements")
root = ElementTree.fromstring(junit.encode())
expect(root.tag == "testsuites", "root of JUnit is " + root.tag)
suite = root[0]
for counter, tag in (("tests", None), ("failures", "failure"), ("errors", "error")):
    found = len(suite) if tag is None else len(list(suite.iter(tag)))
    expect(int(suite.get(counter)) == found, f"{counter} says {suite.get(counter)}, there are {found}")
cases = {c.get("classname"): [x.tag for x in c] for c in suite}
expect(cases == {'a <b> & "c": 100%, d': ["failure"], "passes": [], "undecided": ["failure"], "broken": ["error"]}, f"cases {cases}")
expect(suite[0][0].text.strip().count("\n") == 1, "two broken limits are two lines")

# SARIF, by its own schema.
schema = json.loads((top / "tests/data/schema/sarif-2.1.0.schema.json").read_text())
jsonschema.Draft4Validator.check_schema(schema)
validator = jsonschema.Draft4Validator(schema)
log = json.loads(check(NAME, "--format", "sarif").stdout)
for error in validator.iter_errors(log):
    expect(False, f"SARIF {list(error.absolute_path)}: {error.message[:200]}")
run = log["runs"][0]
rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
expect(len(rules) == len(set(rules)), "SARIF rules are unique")
expect({r["ruleId"] for r in run["results"]} == set(rules), "SARIF results and rules name the same")
expect([r["level"] for r in run["results"]] == ["error", "error", "warning", "error"], "SARIF levels")
for result in run["results"]:
    place = result["locations"][0]["physicalLocation"]
    expect(urllib.parse.unquote(place["artifactLocation"]["uri"]) == NAME, "SARIF names the file")
    line = BUDGETS.splitlines()[place["region"]["startLine"] - 1]
    expect(result["message"]["text"].split(" (")[0] in line, "SARIF line holds the check")
# The schema can fail.
broken = json.loads(json.dumps(log))
del broken["runs"][0]["results"][0]["message"]
expect(not validator.is_valid(broken), "a result without message is refused")

# GitHub: one command a line; nothing unescaped ends a property or a line early.
lines = check(NAME, "--format", "github").stdout.splitlines()
shape = re.compile(r"::(error|warning|notice) (?:[a-z]+=[^,:\r\n]*)(?:,[a-z]+=[^,:\r\n]*)*::.+")
for line in lines:
    expect(shape.fullmatch(line), "GitHub line " + line)
expect(sum(l.startswith("::error ") for l in lines) == 3, "three errors")
expect("100%25%2C d" in lines[0], "GitHub escapes")

table = check(NAME, "--format", "markdown").stdout.splitlines()
expect(len({l.replace("\\|", "").count("|") for l in table if l.startswith("|")}) == 1, "Markdown rows have the same columns")

failing = next(l for l in table if '"c": 100%' in l)
expect("max_memory" in failing and "<br>min_decode" in failing, "Markdown names every broken limit: " + failing)

# A pipeline that forgot its baseline, and first files for what does not exist, fail at once.
for arguments, word in ((["--fail-on-regression"], "--baseline"), (["--update-baseline"], "--baseline"),
                        (["--baseline", "none.json"], "--update-baseline"),
                        (["--init"], "exists"), ):
    found = check(NAME, *arguments)
    expect(found.returncode == 2 and not found.stdout and word in found.stderr, f"{arguments}: {found.returncode} {found.stderr}")
found = check("new.yaml", "--init", "--model", "no-such-model")
expect(found.returncode == 2 and "no-such-model" in found.stderr and not (here / "new.yaml").exists(), "no first file for an unknown model")

# Statuses: a failure beats an undecided; undecided never passes unless told.
ONLY = f'schema: memwall/budgets/1\ndevices: ["{DEVICE}"]\nchecks:\n  - {{model: llama-3.2-1b, limits: {{min_decode: {rate}}}}}\n'
(here / "only.yaml").write_text(ONLY)
for name, arguments, status in ((NAME, [], 1), ("only.yaml", [], 3), ("only.yaml", ["--undecided", "pass"], 0),
                                ("only.yaml", ["--undecided", "fail"], 1), ("none.yaml", [], 2)):
    found = check(name, *arguments).returncode
    expect(found == status, f"check {name} {arguments}: exit status {found}, not {status}")
(here / "only.yaml").write_text(ONLY.replace("min_decode", "min_decoed"))
wrong = check("only.yaml")
expect(wrong.returncode == 2 and wrong.stderr.startswith("memwall: only.yaml:4:"), "a broken file names its line: " + wrong.stderr)

print(f"{len(failures)} failed")
sys.exit(len(failures) > 0)
