"""The script of the demo with lanes: ten tasks, two of which collide, and how it is recorded.

    .venv/bin/python tests/support/demo_lanes_script.py

writes the plan and its tests to `tilth/demo/lanes` and runs the real `tilth run --jobs 4` on it.
Which answer comes next is told by the conversation alone: lanes come in any order.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.commands import start  # noqa: E402
from support.demo_script import EVALUATOR, WORKER, _cleaned, _written  # noqa: E402
from support.lane_stage import taken, task_number  # noqa: E402  # tests/ is no package
from support.messages_api import Answer, MessagesServer, Request, call, say  # noqa: E402
from tilth.demo.material import LANES, lay_out_bundle, lay_out_project  # noqa: E402

FEATURE = "Everything the office asked for"
INIT = '"""Invoices of a small business."""\n'
JOBS = "4"


@dataclass(frozen=True)
class Part:
    """Hold one task: what is asked for, its test, and what the worker writes."""

    number: int
    title: str
    description: str
    criterion: str
    module: str
    code: str
    test: str
    depends_on: tuple[int, ...] = ()
    # What it adds to the package's own file, where two can collide.
    exports: str = ""

    @property
    def id(self) -> str:
        return f"T-{self.number:03d}"

    @property
    def path(self) -> str:
        return f"invoices/{self.module}.py"

    def entry(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "description": self.description,
            "acceptance_criteria": [self.criterion],
            "depends_on": [f"T-{each:03d}" for each in self.depends_on],
        }


def _part(number: int, name: str, title: str, criterion: str, code: str, test: str, **more: Any):
    description = f"Add {name}() in invoices/{more['module']}.py. {title}."
    return Part(number, title, description, criterion, code=code, test=test, **more)


HEAD = (
    "from datetime import date\nfrom decimal import Decimal\n\n"
    "from invoices.invoice import Invoice, Line\n"
)
ONE = 'Invoice("1", date(2026, 1, 1), date(2026, 2, 1), (Line("a", 2, Decimal(5)),))'
PAID = 'Invoice("2", date(2026, 1, 1), date(2026, 2, 1), (Line("b", 1, Decimal(7)),), paid=True)'

PARTS = (
    _part(
        1,
        "money",
        "Write an amount as people read it",
        "money(Decimal('1234.5')) gives '1,234.50 EUR'",
        '"""Amounts as people read them."""\n\nfrom decimal import Decimal\n\n\n'
        "def money(amount: Decimal) -> str:\n"
        '    """Write an amount with its currency."""\n    return f"{amount:,.2f} EUR"\n',
        "from decimal import Decimal\n\nfrom invoices.amounts import money\n\n\n"
        "def test_an_amount_is_readable():\n"
        '    assert money(Decimal("1234.5")) == "1,234.50 EUR"\n',
        module="amounts",
    ),
    _part(
        2,
        "with_tax",
        "Add the tax to an amount",
        "with_tax(Decimal(100), 19) gives Decimal('119.00'), and invoices exports it",
        '"""Taxes."""\n\nfrom decimal import Decimal\n\n\n'
        "def with_tax(net: Decimal, percent: int) -> Decimal:\n"
        '    """Give an amount with its tax, in cents."""\n'
        "    return (net * (100 + percent) / 100).quantize(Decimal('0.01'))\n".replace("'", '"'),
        "from decimal import Decimal\n\nfrom invoices import with_tax\n\n\n"
        'def test_tax_is_added():\n    assert with_tax(Decimal(100), 19) == Decimal("119.00")\n',
        module="taxes",
        exports="from invoices.taxes import with_tax",
    ),
    _part(
        3,
        "discounted",
        "Take a discount off an amount",
        "discounted(Decimal(200), 10) gives Decimal(180), and invoices exports it",
        '"""Discounts."""\n\nfrom decimal import Decimal\n\n\n'
        "def discounted(amount: Decimal, percent: int) -> Decimal:\n"
        '    """Give what is left of an amount after a discount."""\n'
        "    return amount * (100 - percent) / 100\n",
        "from decimal import Decimal\n\nfrom invoices import discounted\n\n\n"
        "def test_a_discount_is_taken_off():\n"
        "    assert discounted(Decimal(200), 10) == Decimal(180)\n",
        module="discounts",
        exports="from invoices.discounts import discounted",
    ),
    _part(
        4,
        "outstanding",
        "Add up what is not paid yet",
        "outstanding(invoices) sums the totals of the unpaid invoices",
        '"""What is still owed."""\n\nfrom collections.abc import Iterable\n'
        "from decimal import Decimal\n\nfrom invoices.invoice import Invoice\n\n\n"
        "def outstanding(invoices: Iterable[Invoice]) -> Decimal:\n"
        '    """Sum the totals of the unpaid invoices."""\n'
        "    return sum((each.total for each in invoices if not each.paid), Decimal(0))\n",
        HEAD + "from invoices.owed import outstanding\n\n\ndef test_only_the_unpaid_count():\n"
        f"    one = {ONE}\n    paid = {PAID}\n    assert outstanding([one, paid]) == Decimal(10)\n",
        module="owed",
    ),
    _part(
        5,
        "overdue",
        "List overdue invoices",
        "overdue(invoices, today) lists the unpaid invoices whose due date has passed",
        '"""Whom to remind."""\n\nfrom collections.abc import Iterable\n'
        "from datetime import date\n\n"
        "from invoices.invoice import Invoice\n\n\n"
        "def overdue(invoices: Iterable[Invoice], today: date) -> list[Invoice]:\n"
        '    """Give the unpaid invoices whose due date has passed."""\n'
        "    return [each for each in invoices if not each.paid and each.due <= today]\n",
        HEAD + "from invoices.reminders import overdue\n\n\n"
        f"def test_due_today_is_not_overdue():\n    one = {ONE}\n"
        "    assert overdue([one], date(2026, 2, 1)) == []\n"
        "    assert overdue([one], date(2026, 2, 2)) == [one]\n",
        module="reminders",
    ),
    _part(
        6,
        "numbered",
        "Find an invoice by its number",
        "numbered(invoices, number) gives the invoice of that number, or None",
        '"""Finding invoices."""\n\nfrom collections.abc import Iterable\n\n'
        "from invoices.invoice import Invoice\n\n\n"
        "def numbered(invoices: Iterable[Invoice], number: str) -> Invoice | None:\n"
        '    """Give the invoice of a number, or None."""\n'
        "    return next((each for each in invoices if each.number == number), None)\n",
        HEAD
        + "from invoices.finding import numbered\n\n\ndef test_it_is_found_by_its_number():\n"
        f"    one = {ONE}\n    assert numbered([one], '1') is one\n"
        "    assert numbered([one], '9') is None\n".replace("'", '"'),
        module="finding",
    ),
    _part(
        7,
        "row",
        "Write an invoice as one row",
        "row(invoice) gives number, due date and readable total, separated by semicolons",
        '"""Rows for the ledger."""\n\nfrom invoices.amounts import money\n'
        "from invoices.invoice import Invoice\n\n\ndef row(invoice: Invoice) -> str:\n"
        '    """Write an invoice as one row."""\n'
        '    return f"{invoice.number};{invoice.due};{money(invoice.total)}"\n',
        HEAD
        + "from invoices.rows import row\n\n\ndef test_a_row_says_all():\n"
        f"    assert row({ONE}) == '1;2026-02-01;10.00 EUR'\n".replace("'", '"'),
        module="rows",
        depends_on=(1,),
    ),
    _part(
        8,
        "reminder",
        "Write a reminder",
        "reminder(invoices, today) says what is overdue in readable amounts, one line each",
        '"""Reminders as text."""\n\nfrom collections.abc import Iterable\n'
        "from datetime import date\n\n"
        "from invoices.amounts import money\nfrom invoices.invoice import Invoice\n"
        "from invoices.reminders import overdue\n\n\n"
        "def reminder(invoices: Iterable[Invoice], today: date) -> str:\n"
        '    """Say what is overdue, one line each."""\n    late = overdue(invoices, today)\n'
        '    return "\\n".join(f"{each.number}: {money(each.total)}" for each in late)\n',
        HEAD
        + "from invoices.letters import reminder\n\n\ndef test_what_is_late_is_named():\n"
        f"    assert reminder([{ONE}], date(2026, 3, 1)) == '1: 10.00 EUR'\n".replace("'", '"'),
        module="letters",
        depends_on=(1, 5),
    ),
    _part(
        9,
        "ledger",
        "Write the ledger",
        "ledger(invoices) gives one row an invoice, in the order of their numbers",
        '"""The ledger."""\n\nfrom collections.abc import Iterable\n\n'
        "from invoices.invoice import Invoice\nfrom invoices.rows import row\n\n\n"
        "def ledger(invoices: Iterable[Invoice]) -> list[str]:\n"
        '    """Give one row an invoice, by number."""\n'
        "    return [row(each) for each in sorted(invoices, key=lambda each: each.number)]\n",
        HEAD
        + "from invoices.ledger import ledger\n\n\ndef test_rows_stand_by_number():\n"
        f"    one = {ONE}\n    paid = {PAID}\n"
        "    assert [line[0] for line in ledger([paid, one])] == ['1', '2']\n".replace("'", '"'),
        module="ledger",
        depends_on=(7,),
    ),
    _part(
        10,
        "overview",
        "Sum it all up",
        "overview(invoices, today) gives how much is owed and how many are overdue",
        '"""The overview."""\n\nfrom collections.abc import Sequence\n'
        "from datetime import date\n\n"
        "from invoices.amounts import money\nfrom invoices.invoice import Invoice\n"
        "from invoices.owed import outstanding\nfrom invoices.reminders import overdue\n\n\n"
        "def overview(invoices: Sequence[Invoice], today: date) -> str:\n"
        '    """Say how much is owed and how many are overdue."""\n'
        "    late = len(overdue(invoices, today))\n"
        '    return f"{money(outstanding(invoices))} owed, {late} overdue"\n',
        HEAD
        + "from invoices.overview import overview\n\n\ndef test_it_sums_up():\n"
        f"    assert overview([{ONE}], date(2026, 3, 1)) == '10.00 EUR owed, 1 overdue'\n".replace(
            "'", '"'
        ),
        module="overview",
        depends_on=(1, 4, 5),
    ),
)


def answers(part: Part) -> list[Answer]:
    """Say what the worker of one task says, one answer after another."""
    test = f"python -m pytest -q tests/test_t{part.number:03d}_{part.module}.py"
    wrote = call("write_file", path=part.path, content=part.code)
    if part.exports:
        text = f'{INIT}\n{part.exports}\n\n__all__ = ["{_name(part)}"]\n'
        wrote += call("write_file", path="invoices/__init__.py", content=text)
    begun = say("A module of its own, and its test right after.") + wrote
    handed = say("That is all that was asked for.") + submit(part)
    if part.number == 5:
        mended = call(
            "edit_file",
            path=part.path,
            old_string="each.due <= today",
            new_string="each.due < today",
        )
        fixed = say("Due today is not late yet.") + mended + call("bash", command=test)
        return [begun, handed, fixed, handed]
    if part.number == 3:
        both = (
            f"{INIT}\nfrom invoices.discounts import discounted\n"
            'from invoices.taxes import with_tax\n\n__all__ = ["discounted", "with_tax"]\n'
        )
        merged = say("Somebody else exports from the package, too: both names belong there.")
        merged += call("write_file", path="invoices/__init__.py", content=both)
        return [
            begun + call("bash", command=test),
            handed,
            merged + call("bash", command=test),
            handed,
        ]
    return [begun + call("bash", command=test), handed]


def submit(part: Part) -> Answer:
    covered = [{"criterion": "1", "addressed_by": f"{part.path}:{_name(part)}"}]
    return call("submit_case", summary=f"Added {_name(part)}().", ac_coverage=covered)


def _name(part: Part) -> str:
    return part.description.partition("Add ")[2].partition("(")[0]


def endpoint(request: Request) -> Answer:
    """Answer by what is shown, with the usage such a conversation would have."""
    messages = request.body["messages"]
    part = PARTS[task_number(messages[0]["content"][0]["text"]) - 1]
    if request.role == "evaluator":
        answer = call(
            "submit_verdict",
            concern=f"{_name(part)}() does what the criterion says, and its test holds it.",
            evidence=[f"{part.path}:{_name(part)}"],
            verdict="accept",
            rejection_category=None,
            next_step=None,
            score=90 + part.number % 7,
        )
    else:
        said = answers(part)
        answer = said[min(taken(messages), len(said) - 1)]
    spoken = len(json.dumps(answer.blocks)) // 4 + 40
    first = len(messages) == 1
    usage = {
        "input_tokens": 6,
        "cache_read_input_tokens": 0 if first else 4200,
        "cache_creation_input_tokens": 4200 if first else 620,
        "output_tokens": spoken,
    }
    return answer.but(usage=usage)


def write_material() -> None:
    """Write the plan and its tests as the package ships them."""
    plan = {"version": 1, "feature": FEATURE, "tasks": [part.entry() for part in PARTS]}
    (LANES / "tests").mkdir(parents=True, exist_ok=True)
    (LANES / "prd.json").write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
    for part in PARTS:
        name = f"test_t{part.number:03d}_{part.module}.py.txt"
        (LANES / "tests" / name).write_text(part.test, encoding="utf-8")


def record() -> str:
    """Run the ten tasks in four lanes against the script and give the log, free of this machine."""
    server = MessagesServer(endpoint, at_once=True)
    with tempfile.TemporaryDirectory() as name, server:
        root = Path(name).resolve()
        source = lay_out_project(root / "invoices")
        bundle = lay_out_bundle(root / "bundle", "lanes")
        environ = {
            "TILTH_HOME": str(root / "home"),
            "TILTH_API_KEY": "none",
            "TILTH_BASE_URL": server.url,
            "TILTH_WORKER_MODEL": WORKER,
            "TILTH_EVALUATOR_MODEL": EVALUATOR,
            "TILTH_SANDBOX": "off",
            "TILTH_MUTATION_SECONDS": "0",
            "TILTH_JOBS": JOBS,
        }
        with contextlib.redirect_stderr(io.StringIO()) as talk:
            code = start(bundle, source.root, {}, new=True, environ=environ)
        if code != 0:
            raise RuntimeError(f"the demo's run ended with {code}:\n{talk.getvalue()}")
        [log] = (root / "home" / "sessions").glob("*/events.jsonl")
        lines = map(json.loads, log.read_text("utf-8").splitlines())
        return "".join(f"{_written(_cleaned(line))}\n" for line in lines)


if __name__ == "__main__":
    write_material()
    (LANES / "events.jsonl").write_text(record(), encoding="utf-8")
    print(f"wrote {LANES.relative_to(ROOT)}")
