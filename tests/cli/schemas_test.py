"""Validates what the command prints, and the project's own input files, against docs/schema/."""
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import yaml

command, top = sys.argv[1], pathlib.Path(sys.argv[2])
schemas = {}
for path in sorted((top / "docs/schema").glob("*.json")):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    schemas[schema["properties"]["schema"]["const"]] = jsonschema.Draft202012Validator(schema)

PI = ["--device", "raspberry-pi-5:8GiB"]
RUNS = [
    ["plan", "qwen2.5-7b", "--json", *PI],
    ["plan", "qwen2.5-7b", "--json", "--ledger", *PI],
    ["plan", "deepseek-v3", "--json", "--ledger", "--device", "rtx-4090"],
    ["plan", "qwen3-next-80b-a3b", "--json", "--device", "apple-m4:32GiB"],
    ["plan", "llama-3.2-1b", "--json", "--runtime", "executorch", "--device", "pixel-9-pro"],
    ["plan", "llama-3.2-1b", "--json", "--device", "host"],
    ["explain", "gemma-3-4b", "--json", *PI],
    ["compare", "qwen2.5-7b", "llama-3.1-8b", "--json", *PI],
    ["runtimes", "--json"], ["runtimes", "mlx", "--json"], ["models", "--json"], ["models", "show", "whisper-large-v3", "--json"],
    ["devices", "--json"], ["devices", "show", "iphone-16-pro", "--json"], ["devices", "show", "host", "--json"],
    ["quantize-lab", "synthetic:student-t:4", "--rows", "16", "--columns", "256", "--layer", "--kv", "--methods", "F32,Q4_K,NF4,int4-g128", "--json"],
]
SMALL = ["llama-3.2-1b", "--context", "4096", *PI]
RUNS += [
    ["recommend", *SMALL, "--json"],
    ["recommend", "qwen3-30b-a3b", "--context", "4096", "--device", "rtx-3060-12gb", "--preset", "code", "--max-memory", "30GiB", "--json"],
    ["recommend", *SMALL, "--quant", "Q4_K_M", "--mixed", "--json"],
    ["recommend", "qwen3-30b-a3b", "--device", "rtx-3060-12gb", "--set", "device.ram=64GiB", "--context", "4096", "--mixed", "--json"],
    ["require", *SMALL, "--min-decode", "5", "--max-ttft", "5", "--json"],
    ["require", *SMALL, "--min-decode", "100000", "--json"],
    ["sweep", "--axis", "model=llama-3.2-1b,qwen3-0.6b", "--axis", "quant=Q4_K_M,no-such-recipe", "--json", *PI],
    ["fit", "qwen3", "--json", *PI],
]
RUNS += [["simulate", "phone-day", "--json", "--duration", "6h", "--replications", "2"],
         ["simulate", "rag-box", "--json", "--find", "users"], ["simulate", "rag-box", "--json", "--find", "pool", "--duration", "1h"]]
profiles = tempfile.TemporaryDirectory()
budgets, baseline = profiles.name + "/budgets.yaml", profiles.name + "/baseline.json"
RUNS += [
    ["check", budgets, "--json", "--baseline", baseline, "--update-baseline"],
    ["check", budgets, "--json", "--baseline", baseline],
]
subprocess.run([command, "check", budgets, "--init"], check=True, capture_output=True)
RUNS.append(["calibrate", "--seconds", "1", "--json", "--storage", profiles.name, "--output", profiles.name + "/host.yaml"])
QUICK = ["verify", "small-dense", "--contexts", "96", "--kv", "int8", "--runs", "1", "--json"]
RUNS += [QUICK, [*QUICK, "--trace", "default", "--requests", "2", "--load", "0.9"]]
passed = failed = 0
for arguments in RUNS:
    run = subprocess.run([command, *arguments], capture_output=True, text=True)
    # 1 says that nothing meets the demands, 3 that a busy machine proves nothing; the document says so too.
    allowed = (0, 1, 3) if arguments[0] == "verify" else (0, 1)
    problem = f"exit status {run.returncode}: {run.stderr}" if run.returncode not in allowed else None
    if not problem:
        document = json.loads(run.stdout)
        errors = list(schemas[document["schema"]].iter_errors(document))
        problem = "; ".join(f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors[:3])
    print(("FAIL " + problem + " " if problem else "ok ") + " ".join(arguments))
    passed, failed = passed + (not problem), failed + bool(problem)
for folder, pattern in ((top, "core/model/catalog/*.yaml"), (top, "devices/catalog/*.yaml"), (top, "docs/examples/*.yaml"),
                        (top, "sim/presets/*.yaml"), (pathlib.Path(profiles.name), "*.yaml"), (pathlib.Path(profiles.name), "baseline.json")):
    for path in sorted(folder.glob(pattern)):
        document = yaml.safe_load(path.read_text())
        validator = schemas.get(document.get("schema"))
        problem = f"no schema file for {document.get('schema')}" if not validator else "; ".join(e.message[:200] for e in list(validator.iter_errors(document))[:2])
        if problem:
            print(f"FAIL {path}: {problem}")
        passed, failed = passed + (not problem), failed + bool(problem)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
