"""Any other table whose columns go by a usual name; also the fallback that says what is missing."""

from olprouting.traces.formats._table import TableFormat
from olprouting.traces.formats.azure import AZURE
from olprouting.traces.formats.burstgpt import BURSTGPT
from olprouting.traces.formats.own import OWN
from olprouting.traces.formats.splitwise import SPLITWISE
from olprouting.traces.formats.vidur import VIDUR

_NAMED = (OWN, AZURE, BURSTGPT, VIDUR, SPLITWISE)

GENERIC = TableFormat(
    name="generic",
    arrival={
        "arrival_s": "s",
        "arrived_at": "s",
        "arrival_timestamp": "s",
        "arrival_ms": "ms",
        "timestamp_ms": "ms",
        "arrival_time": None,
        "arrival": None,
        "timestamp": None,
    },
    prompt_tokens=(
        *(name for known in _NAMED for name in known.prompt_tokens),
        "input_tokens",
        "input_length",
        "prompt_length",
        "prompt_len",
    ),
    decode_tokens=(
        *(name for known in _NAMED for name in known.decode_tokens),
        "output_tokens",
        "output_length",
        "output_len",
    ),
    release_iteration=OWN.release_iteration,
    key=OWN.key,
)
