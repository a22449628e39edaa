"""Small valid inputs of every kind, most of them written by olprouting itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import fuzz_mutations as m
import numpy as np

from olprouting.certificates import certificate
from olprouting.certificates.many import write_certificates
from olprouting.engine import simulate
from olprouting.exact import solve
from olprouting.forecasts.learned import train_learned
from olprouting.gaps import measure_gaps
from olprouting.instances import Cluster, Decision
from olprouting.library import best_known
from olprouting.policies import PolicyOptions, make_policy
from olprouting.studies import read_study
from olprouting.studies.manifest import Manifest
from olprouting.traces import geometric
from olprouting.traces.data_folder import data_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DECISIONS = (
    Decision([[10], [4]], [1, 2], [2, 4, 4]),
    Decision([[9, 8], [7, 7], [2, 0]], [1, 1, 2], [5, 3, 3], gamma="0.86"),
    Decision([[9, 8.5], [7, 6.5]], [1, 1], [5, 3, 3.25], gamma="1/3", growth="frozen"),
    Decision([[3_000_000_001], [3_000_000_008]], [2, 2], [6_000_000_001, 9_000_000_004, 5, 6]),
)

STUDY = """\
kind = "simulate"
policies = ["jsq", { name = "soft", policy = "brh", beta = 14.5 }]
seeds = [0, 1]
name = "small"
[trace]
source = "azure-2023-conv-like"
requests = 40
[cluster]
workers = 2
slots = 4
[options]
horizon = 4
weights = "tail-latency"
[grid]
r_max = [2, 4]
gamma = { from = 0.6, to = 1.0, by = 0.2 }
[outputs]
metrics = ["mean_imbalance_tokens"]
[reduced]
seeds = [0]
grid.r_max = [2]
"""

POLICY = """\
import numpy as np

COUNT = 0


def f(view, rng):
    free = [g for g, c in enumerate(view.free_slots) for _ in range(c)]
    return enumerate(free[: view.admissions])
"""

TRACES = {
    "azure.csv": """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.9799600,374,4
2023-11-16 18:17:04.0319570,396,9
2023-11-16 18:17:05.0000000,91,1
""",
    "burstgpt.csv": """\
Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,GPT-4,417,6,423,API log
118,ChatGPT,185,5,190,API log
""",
    "own.csv": """\
arrival_s,prompt_tokens,decode_tokens
0.0,12,3
0.5,8,2
1.5,40,6
""",
    "vidur.csv": """\
arrived_at,num_prefill_tokens,num_decode_tokens
0.0,12,3
0.5,8,2
""",
    "law.csv": "size,probability\n4,0.5\n9,0.25\n30,0.25\n",
    "mooncake.jsonl": """\
{"timestamp": 0, "input_length": 1025, "output_length": 5, "hash_ids": [0, 4, 5]}
{"timestamp": 3000, "input_length": 600, "output_length": 3, "hash_ids": [0, 4]}
""",
    "bailian.jsonl": """\
{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.5, "input_length": 30, "output_length": 5, \
"type": "text", "turn": 1, "hash_ids": [1, 2]}
{"chat_id": 2, "parent_chat_id": 1, "timestamp": 2.5, "input_length": 50, "output_length": 7, \
"type": "text", "turn": 2, "hash_ids": [1, 2, 3, 4]}
""",
}

MYOPIC = PolicyOptions(horizon=0)

DECISION, PERIOD, CERTIFICATE, STUDY_FILE = "decision", "period", "certificate", "study"

OPTIONS = {
    "simulate": (
        "--policy=br0 --requests=30 --workers=2 --slots=3 --waiting=4 --horizon=5 --beta=43 "
        "--gamma=0.9 --r-max=3 --s-greedy=2 --arrivals=backlog --forecast=oracle --history=0 "
        "--projection=cutoff --refresh=iteration --signal-delay=0 --ties=random --solver=auto "
        "--time-limit=1 --clock=barrier --batching=decode --kv-mode=tokens --oversize=error "
        "--step-time=balance-authors --seed=0 --max-iterations=400 --trace=azure-2023-conv-like "
        "--growth=growing --br-growth=frozen --subset-search=auto --periods=300 --every=1"
    ),
    "gaps": (
        "--policies=jsq --requests=20 --workers=2 --slots=3 --waiting=4 --horizon=2 --decisions=2 "
        "--judged-by=both --solver=auto --time-limit=1 --seed=0 --gamma=0.9 --forecast=oracle"
    ),
    "theory": "--prompt-law=uniform:1:50 --p=0.1 --workers=2 --slots=3 --arrivals-per-iteration=9",
    "prices": (
        "--requests=15 --workers=2 --slots=3 --kv-tokens=9000 --rate=0.5 --periods=30 --t1=50 "
        "--t2=5 --weights=tail-latency --noise=0 --steps=5 --step-size=0.1 --batch=2 --sample=1 "
        "--policies=bid-price --time-limit=1 --seed=0 --normalizer=auto --n-remain=slots"
    ),
    "hindsight": (
        "--requests=6 --workers=2 --slots=3 --kv-tokens=9000 --rate=0.5 --periods=30 --t1=50 "
        "--t2=5 --weights=tail-latency --time-limit=0.2 --gap=0.5 --seed=0 --policies=jsq"
    ),
    "traces info azure-2023-conv-like": "--seed=0",
    "forecast evaluate": "--trace=azure-2023-conv-like --requests=200 --horizon=5 --seed=0",
    "instances list": "--kind=decision",
}
"""Commands that run within a moment, with an option to spoil."""


def samples(folder: Path) -> Mapping[str, tuple[tuple[str, bytes, m.Mutation], ...]]:
    """Return by kind the inputs (file name, content, how to spoil it); `folder` is for scratch."""
    solved = [(decision, solve(decision)) for decision in DECISIONS]
    problem = best_known("e3").load()
    proofs = [certificate(decision, result) for decision, result in solved]
    proofs.append(certificate(problem, solve(problem, formulation="integer")))
    proofs.append(best_known("hindsight-tiny").certificate("hindsight"))
    trace = geometric(40, 0.2, 60, np.random.default_rng(0))
    model = train_learned(trace, 3, seed=0)
    profile = (data_folder() / "profiles" / "azure-2023-conv-like.json").read_bytes()

    gaps = measure_gaps(
        trace, Cluster.homogeneous(2, 3), ["jsq"], decisions=2, backlog=4, options=MYOPIC
    )
    write_certificates(gaps.solved(), folder / "c")
    run = simulate(trace, Cluster.homogeneous(2, 3), make_policy("jsq", 2), backlog=4)
    (folder / "s.toml").write_text(STUDY)
    Manifest.of(read_study(folder / "s.toml"), folder / "s.toml").write(folder)

    def coded(documents: list[object]) -> list[bytes]:
        return [json.dumps(document).encode() for document in documents]

    def each(
        name: str, contents: list[bytes], how: m.Mutation
    ) -> tuple[tuple[str, bytes, m.Mutation], ...]:
        return tuple((name, content, how) for content in contents)

    return {
        DECISION: each("d.json", [d.to_json().encode() for d in DECISIONS], m.json_values),
        PERIOD: each("p.json", [problem.to_json().encode()], m.json_values),
        CERTIFICATE: each("c.json", coded(proofs), m.json_values),
        "certificates": each("c.jsonl", [(folder / "c").read_bytes()], m.json_lines),
        STUDY_FILE: each("s.toml", [STUDY.encode()], m.toml_lines),
        "model": each("m.json", [model.to_json().encode()], m.json_values),
        "profile": each("q.json", [profile], m.json_values),
        "manifest": each("manifest.json", [(folder / "manifest.json").read_bytes()], m.json_values),
        "law": each("law.csv", [TRACES["law.csv"].encode()], m.cells),
        "trace": tuple(
            (name, text.encode(), m.json_lines if name.endswith("l") else m.cells)
            for name, text in TRACES.items()
            if name != "law.csv"
        ),
        "replay": each("r.csv", [run.to_frame().to_csv(index=False).encode()], m.cells),
        "policy": each("policy.py", [POLICY.encode()], m.any_bytes),
    }
