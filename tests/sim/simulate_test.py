"""memwall simulate as its user meets it: bad scenarios, an interrupt, and the same bytes on any number of threads.

simulate_test.py COMMAND"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

command = str(pathlib.Path(sys.argv[1]).resolve())
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
passed = failed = 0


def expect(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAIL " + what)


def run(*arguments, **how):
    return subprocess.run([command, "simulate", *arguments], capture_output=True, text=True, cwd=here, **how)


GOOD = """schema: memwall/scenario/1
duration: 2h
deployment: {model: qwen3-0.6b, device: "raspberry-pi-5:8GiB", quant: Q4_K_M, context: 2048, sequences: 2}
apps:
  - {name: chat, arrivals: {law: poisson, rate: 60/h}, turns: 3, think: 5s, prompt: 100, output: 40}
"""
(here / "good.yaml").write_text(GOOD)
(here / "order.csv").write_text("arrival_seconds,prompt_tokens,output_tokens\n5,10,10\n4,10,10\n")
(here / "header.csv").write_text("when,what\n5,10\n")
ok = run("good.yaml", "--json")
expect(ok.returncode == 0 and ok.stderr == "", "the good scenario runs: " + ok.stderr)

# (what is replaced, by what, where the error points, a word of its reason)
BAD = [
    ("rate: 60/h", "rate: -60/h", "bad.yaml:5", "-60/h"),
    ("law: poisson", "law: fractal", "bad.yaml:5", "fractal"),
    ("prompt: 100", "prompt: {law: lognormal, median: -3, sigma: 1}", "bad.yaml:5", "'-3'"),
    ("duration: 2h", "duration: 0s", "bad.yaml", "duration"),
    ("duration: 2h", "durations: 2h", "bad.yaml:2", "durations"),
    ("schema: memwall/scenario/1", "schema: memwall/model/1", "bad.yaml", "scenario"),
    ("qwen3-0.6b", "qwen3-0.7b-no-such", "bad.yaml:3", "qwen3-0.7b-no-such"),
    ("raspberry-pi-5:8GiB", "strawberry-pi", "bad.yaml:3", "strawberry-pi"),
    ("quant: Q4_K_M", "quant: Q4_X_M", "bad.yaml:3", "Q4_X_M"),
    ("quant: Q4_K_M", "quant: Q4_K_M, kv: [f16, q8_0]", "bad.yaml:3", "a list"),
    ("context: 2048", "context: 2048, draft: no-such-draft", "bad.yaml:3", "no-such-draft"),
    ("apps:", "serving: {max_sequences: 0}\napps:", "bad.yaml:4", "max_sequences: 0"),
    ("apps:", "replications: 0\napps:", "bad.yaml:4", "replications: 0"),
    ("apps:", "serving: {token_budget: 1}\napps:", "bad.yaml:4: serving.token_budget", "2 at least"),
    ("apps:", "objectives: {ttft_p95: 0s}\napps:", "bad.yaml:4", "ttft_p95: 0"),
    ("apps:", "thermal: {resistance: 0}\napps:", "bad.yaml:4", "resistance: 0"),
    ("apps:", "thermal: {resistance: 5, from: 40, levels: [{enter: 50, speed: 50%}]}\napps:", "bad.yaml:4", "beside levels"),
    ("apps:", "memory: {system: 1GiB, others: [{name: a, size: 1GiB, opens: 0/h}]}\napps:", "bad.yaml:4", "from the start"),
    ("prompt: 100", "prompt: 0", "bad.yaml:5", "1 at least"),
    ("output: 40", "output: {law: uniform, least: 0, most: 0.5}", "bad.yaml:5", "1 at least"),
    ("law: poisson", "law: diurnal, hours: [" + ", ".join(["0"] * 24) + "]", "bad.yaml:5", "above 0"),
    ("duration: 2h", "duration: 1us", "bad.yaml:2", "1 ms"),
    ("apps:", "serving: {batching: sometimes}\napps:", "bad.yaml:4", "sometimes"),
    ("apps:", "serving: {preemption: never}\napps:", "bad.yaml:4", "never"),
    ("apps:", "kv: {between_turns: burn}\napps:", "bad.yaml:4", "burn"),
    ("apps:", "kv: {pool: 1KiB}\napps:", "bad.yaml:4: kv.pool", "room for"),
    ("apps:", "kv: {layout: contiguous, fit: worst}\napps:", "bad.yaml:4", "worst"),
    ("apps:", "memory: {killer: earlyoom, system: 1GiB}\napps:", "bad.yaml:4", "earlyoom"),
    ("apps:", "memory: {system: 99GiB}\napps:", "bad.yaml:4: memory.system", "99"),
    ("apps:", "load: {first: 3s}\napps:", "bad.yaml:4", "start: cold"),
    ("apps:", "kv: {pool: 100GiB}\napps:", "bad.yaml:4: kv.pool", "8.00 GiB of ram"),
    ("apps:", "shared_bandwidth: 900GB/s\napps:", "bad.yaml:4: shared_bandwidth", "900"),
    ("apps:", "thermal: {resistance: 5, levels: [{enter: 50, speed: 0.5}, {enter: 40, speed: 0.3}]}\napps:", "bad.yaml:4", "order"),
    (GOOD[GOOD.index("arrivals"):], "trace: order.csv}\n", "order.csv:3", "order"),
    (GOOD[GOOD.index("arrivals"):], "trace: header.csv}\n", "header.csv:1", "arrival_seconds"),
    (GOOD[GOOD.index("arrivals"):], "trace: missing.csv}\n", "missing.csv", ""),
    (GOOD[GOOD.index("apps:"):], "apps: []\n", "bad.yaml", ""),
    (GOOD, "[", "bad.yaml", ""),
    (GOOD, "", "bad.yaml", ""),
]
for old, new, place, reason in BAD:
    expect(old in GOOD, f"the test replaces nothing: {old}")
    (here / "bad.yaml").write_text(GOOD.replace(old, new, 1))
    r = run("bad.yaml")
    one_line = r.stderr.count("\n") == 1 and r.stderr.startswith("memwall: ")
    expect(r.returncode == 2 and r.stdout == "" and one_line and place in r.stderr and reason in r.stderr,
           f"{new!r}: status {r.returncode}, wanted '{place}' and '{reason}' in: {r.stderr}")
for arguments in (["no-such-preset"], [], ["good.yaml", "--find", "luck"], ["good.yaml", "--find", "users"],
                  ["good.yaml", "--trace", "/no/such/folder/t.json"], ["good.yaml", "--duration", "-3h"], ["good.yaml", "--duration", "0s"],
                  ["good.yaml", "--ttft-p95", "0s"], ["good.yaml", "--require"], ["good.yaml", "--find", "throttle"]):
    r = run(*arguments)
    expect(r.returncode == 2 and r.stdout == "" and r.stderr.count("\n") == 1, f"{arguments}: {r.returncode} {r.stderr}")

# The same seed gives the same bytes, on one core and on all; another seed gives others.
def on_cores(count, *arguments):
    cores = sorted(os.sched_getaffinity(0))[:count]
    return run(*arguments, preexec_fn=lambda: os.sched_setaffinity(0, cores))

several = ["good.yaml", "--replications", "4", "--json"]
one = on_cores(1, *several)
expect(one.returncode == 0 and one.stdout == on_cores(2, *several).stdout, "one core and two print the same bytes")
expect(run(*several, "--seed", "1").stdout == one.stdout, "the default seed is 1")
expect(run(*several, "--seed", "2").stdout != one.stdout, "another seed is another day")
document = json.loads(one.stdout)
expect(document["replications"] == 4 and not document["interrupted"], "four runs to the end")

# An interrupt ends the run; what was simulated until then is printed.
YEARS = "2592000000s"
for arguments, stopped in (([], "interrupted"), (["--replications", "3"], "interrupted"), (["--find", "users", "--ttft-p95", "1h"], "interrupted")):
    p = subprocess.Popen([command, "simulate", "good.yaml", "--duration", YEARS, "--json", *arguments],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here)
    time.sleep(0.8)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=60)
    # A search that was stopped before it found anything has not decided.
    expect(p.returncode == (3 if "--find" in arguments else 0) and stopped in err, f"{arguments}: status {p.returncode}: {err}")
    d = json.loads(out)
    if "--find" not in arguments:
        expect(d["interrupted"] and 0 < d["simulated_seconds"] < 2592000000, f"{arguments}: has simulated a part")
        finished = sum(a["finished"] for a in d["apps"])
        expect(finished > 0 and d["timeline"][-1]["until_seconds"] <= d["simulated_seconds"], f"{arguments}: with results")

# What else it writes.
r = run("good.yaml", "--trace", "trace.json")
slices = json.loads((here / "trace.json").read_text())["traceEvents"]
expect(r.returncode == 0 and {"prompt", "decode"} <= {s["name"] for s in slices}, "a trace for the viewer")
expect(run("good.yaml", "--duration", "1d").returncode == 0, "a duration in days")
negative = run("good.yaml", "--seed", "-1")
expect(negative.returncode == 2 and len(negative.stderr) < 120, "a negative seed is refused in a line: " + negative.stderr)
expect(run("good.yaml", "--ttft-p95", "1h", "--require").returncode == 0, "objectives that hold")
expect(run("good.yaml", "--ttft-p95", "1ms", "--require").returncode == 1, "objectives that do not hold")
for question in ("users", "pool"):
    found = run("good.yaml", "--find", question, "--ttft-p95", "1h", "--tpot-p95", "1h", "--duration", "10min", "--json")
    expect(found.returncode == 0 and json.loads(found.stdout)["answers"][0]["best"] > 0, f"{question} are found: {found.stderr}")
    none = run("good.yaml", "--find", question, "--ttft-p95", "1ms", "--json")
    expect(none.returncode == 1 and json.loads(none.stdout)["answers"][0]["best"] == 0, f"no {question}: status {none.returncode}")
(here / "crowd.yaml").write_text(GOOD.replace("name: chat,", "name: chat, users: 3,"))
crowd = run("crowd.yaml", "--find", "users", "--ttft-p95", "20s", "--duration", "20min")
times = crowd.stdout.split()[0]
expect(f"{times} times the scenario's users ({3 * int(times)} in all)" in crowd.stdout, "users are multiplied: " + crowd.stdout)
# An option of the command line is at fault, not the file.
override = run("good.yaml", "--device", "strawberry-pi")
expect(override.returncode == 2 and "good.yaml" not in override.stderr, "the option is named: " + override.stderr)
(here / "hot.yaml").write_text(GOOD + "thermal: {resistance: 20, time_constant: 10s, ambient: 25, from: 26}\npower: {active: 5W}\n")
hot = run("hot.yaml", "--find", "throttle", "--replications", "3", "--json")
answer = json.loads(hot.stdout)["answers"][0]
expect(hot.returncode == 0 and answer["throttled_runs"] == 3 and answer["best"] <= answer["seconds"], f"when it is slowed: {hot.stdout[:200]}")
cool = run("hot.yaml", "--find", "throttle", "--duration", "1s")
expect(cool.returncode == 0 and "Not slowed" in cool.stdout, "or that it is not: " + cool.stdout)
lines = run("good.yaml", "--timeline").stdout.splitlines()
expect(lines[0].startswith("until_seconds,weights_bytes") and len(lines) == 1001, "a timeline of a thousand points")
expect(run("good.yaml", "--csv").stdout.startswith("metric,mean"), "every metric as CSV")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
