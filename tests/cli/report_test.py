"""The report: one file that fetches nothing, says what recommend says, and survives hostile names and documents.

report_test.py COMMAND"""
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

command = str(pathlib.Path(sys.argv[1]).resolve())
folder = tempfile.TemporaryDirectory()
here = pathlib.Path(folder.name)
failed = 0


def expect(good, what):
    global failed
    failed += not good
    if not good:
        print("FAIL " + what)


def run(*arguments):
    return subprocess.run([command, *arguments], capture_output=True, text=True, cwd=here)


class Page(html.parser.HTMLParser):
    """Open elements, ids of drawings, what would be fetched, and the words."""
    VOID = {"meta", "br"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.fetched, self.words, self.tags, self.balanced = [], [], [], [], True
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster", "action") or (name == "href" and tag != "a") or name.startswith("on"):
                self.fetched.append(f"{tag} {name}={value}")
            if name == "href" and not value.startswith(("http://", "https://")):
                self.fetched.append(f"link to {value}")
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        self.balanced = self.balanced and bool(self.stack) and self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack[-1:] != ["style"]:
            self.words.append(data)


def page_of(text, what, drawings):
    page = Page(text)
    expect(page.balanced and not page.stack, f"{what}: elements are closed")
    expect(not page.fetched and "script" not in page.tags, f"{what}: nothing is fetched or run: {page.fetched}")
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    expect("url(" not in style and "@import" not in style, f"{what}: the style fetches nothing")
    expect("prefers-color-scheme: dark" in style and "@media print" in style, f"{what}: dark and print")
    found = re.findall(r"<svg .*?</svg>", text, re.S)
    expect(len(found) >= drawings, f"{what}: {len(found)} drawings, {drawings} expected")
    for svg in found:
        for element in ElementTree.fromstring(svg).iter():
            for name in ("x", "y", "cx", "cy", "r", "width", "height", "points"):
                if name in element.attrib:
                    numbers = [float(x) for x in re.split("[ ,]", element.get(name))]
                    expect(all(abs(x) < 2000 for x in numbers), f"{what}: {name}={element.get(name)[:60]}")
    used = set(re.findall(r'class="([^"]+)"', " ".join(found)))
    for name in {c for group in used for c in group.split()} - {"tick", "name"}:
        expect("." + name in style, f"{what}: the style knows .{name}")
    return " ".join(page.words)


ASKED = ["llama-3.2-1b", "--device", "raspberry-pi-5:8GiB", "--min-context", "2048", "--priority", "latency"]
recommend = run("recommend", *ASKED, "--json")
document = json.loads(recommend.stdout)
answer = document["answers"]["latency"]
(here / "recommend.json").write_text(recommend.stdout)

live = run("report", *ASKED)
expect(live.returncode == 0 and not live.stderr, "report runs: " + live.stderr)
words = page_of(live.stdout, "report", 8)
expect(answer["command"] in words, "the report gives the command of recommend's answer")
expect(f"{len(document['candidates']):,} configurations searched" in words, "it counts the candidates")
expect(f"{len(document['front'])} on the front" in words, "and the front")
for part in ("Memory", "Roofline", "Why not" if any(not c["rejected"] == [] for c in document["candidates"]) else "Sources", "Assumptions", "Sources", "Where each is strong"):
    expect(part in words, f"{part} is there")

saved = run("report", "--from", "recommend.json")
words = page_of(saved.stdout, "from recommend", 5)
expect(answer["command"] in words, "a saved document gives the same command")

plan = run("plan", *answer["command"].split()[2:], "--json", "--ledger")
(here / "plan.json").write_text(plan.stdout)
words = page_of(run("report", "--from", "plan.json", "--title", "Two < three & \"four\"").stdout, "from plan", 2)
expect('Two < three & "four"' in words and "It fits" in words, "a plan alone is a report with a title")
both = page_of(run("report", "--from", "recommend.json", "--from", "plan.json").stdout, "from both", 7)
expect("Sources" in both and "Quality against memory" in both, "both documents together")

# A simulation: live with its plan, and from its document alone.
day = run("report", "--scenario", "phone-day")
words = page_of(day.stdout, "scenario", 8)
expect(day.returncode == 0 and not day.stderr, "a scenario is reported: " + day.stderr)
for part in ("Over time: phone-day", "Memory over time", "Temperature", "Battery", "Time to the first token", "Time per output token", "Speed against context"):
    expect(part in words, f"{part} is there")
simulated = run("simulate", "phone-day", "--json")
(here / "simulate.json").write_text(simulated.stdout)
words = page_of(run("report", "--from", "simulate.json").stdout, "from simulate", 5)
expect("Over time: phone-day" in words and "DOES NOT FIT" not in words and "requests in" in words, "a simulation alone")
peak = json.loads(simulated.stdout)["peak"]
expect(f", {peak['owner']}" in day.stdout and f"peak {(peak['weights_bytes'] + peak['kv_bytes'] + peak['scratch_bytes']) / 2**30:.2f} GiB" in day.stdout,
       "the peak and its owner are named")
expect("Over time: phone-day" in run("report", "--from", "simulate.json", "--markdown").stdout, "also as Markdown")
other = run("report", "qwen3-0.6b", "--scenario", "rag-box", "--sequences", "2")
expect(other.returncode == 0 and "--sequences 2" in other.stdout and "qwen3-0.6b" in other.stdout, "MODEL and options go before the scenario's: " + other.stderr)
absurd = json.loads(simulated.stdout)
for point in absurd["timeline"]:
    point["kv_bytes"], point["temperature_celsius"] = 10**300, -1e300
absurd["peak"]["at_seconds"] = -1e300
absurd["histograms"]["ttft"] = [{"from_seconds": 0, "to_seconds": 0, "count": 2**62}]
(here / "absurd.json").write_text(json.dumps(absurd))
page_of(run("report", "--from", "absurd.json").stdout, "an absurd simulation", 3)

# Nothing admitted is an answer too: the closest, and why not.
none = run("report", "llama-3.2-1b", "--device", "raspberry-pi-5:8GiB", "--context", "2048", "--min-decode", "100000")
words = page_of(none.stdout, "nothing admitted", 2)
expect(none.returncode == 0 and "NOTHING ADMITTED" in words and "100000" in words.replace("1e+05", "100000"), "nothing admitted says so")

# Markdown: the same answer, every row of a table as wide as its head.
markdown = run("report", *ASKED, "--markdown").stdout
expect(answer["command"] in markdown and markdown.startswith("# "), "Markdown holds the command")
width = None
for line in markdown.splitlines():
    cells = line.replace("\\|", "").count("|") if line.startswith("|") else None
    expect(cells is None or width is None or cells == width, "Markdown row " + line)
    width = cells
run("report", *ASKED, "--output", "decision.md")
expect((here / "decision.md").read_text() == markdown, "--output FILE.md is Markdown")

# A name from a document is text, never markup.
evil = json.loads(recommend.stdout)
evil["model"] = evil["device"] = "</title><script>alert(1)</script>"
evil["answers"]["latency"]["command"] = "<img src=x onerror=alert(1)>"
(here / "evil.json").write_text(json.dumps(evil))
words = page_of(run("report", "--from", "evil.json").stdout, "hostile names", 5)
expect("<script>alert(1)</script>" in words, "hostile names are shown as they are")

# Absurd numbers are drawn at the edge, in no more time.
absurd = json.loads(recommend.stdout)
for i, candidate in enumerate(absurd["candidates"]):
    for end in ("low", "central", "high"):
        candidate["footprint_bytes"][end] = 2**62 + i * 1024
        candidate["job_seconds"][end] = 1e300 / (i + 1)
    candidate["needed_bytes"]["low"] = -2**62
    candidate["context"] = 2**60
(here / "absurd.json").write_text(json.dumps(absurd))
page_of(run("report", "--from", "absurd.json").stdout, "absurd numbers", 3)

# Broken documents are one line and status 2.
broken = {"not JSON": "{", "another schema": '{"schema": "memwall/fit/1"}', "no fields": '{"schema": "memwall/recommend/1"}'}
index = json.loads(recommend.stdout)
index["front"] = [10**6]
broken["an index too large"] = json.dumps(index)
index = json.loads(recommend.stdout)
index["answers"]["latency"]["candidate"] = -1
broken["a negative index"] = json.dumps(index)
index = json.loads(recommend.stdout)
index["candidates"][0]["needed_bytes"]["low"] = "many"
broken["a word for a number"] = json.dumps(index)
index = json.loads(recommend.stdout)
index["candidates"] = []
index["front"] = []
index["answers"] = {}
broken["no candidates"] = json.dumps(index)
index = json.loads(simulated.stdout)
del index["metrics"]
broken["a simulation without a run"] = json.dumps(index)
index = json.loads(simulated.stdout)
index["timeline"][3]["kv_bytes"] = "many"
broken["a timeline of words"] = json.dumps(index)
for what, text in broken.items():
    (here / "broken.json").write_text(text)
    result = run("report", "--from", "broken.json")
    expect(result.returncode == 2 and result.stderr.startswith("memwall: broken.json") and result.stderr.count("\n") == 1,
           f"{what}: {result.returncode} {result.stderr[:300]}")
for arguments in ([], ["llama-3.2-1b", "--from", "recommend.json"], ["--from", "nowhere.json"], ["--scenario", "no-such"], ["--scenario", "phone-day", "--from", "recommend.json"]):
    result = run("report", *arguments)
    expect(result.returncode == 2 and result.stderr.count("\n") == 1, f"report {arguments}: {result.stderr}")

print(f"{failed} failed")
sys.exit(failed > 0)
