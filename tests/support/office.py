"""An office of small tools for programs: data that never change, failures that repeat, and a list of the calls."""

from __future__ import annotations

import json
from typing import Any

CUSTOMERS = [
    {"id": k, "name": n, "email": e, "country": c, "tier": t, "joined": j}
    for k, n, e, c, t, j in [
        (1, "Ada Lovelace", "ada@example.org", "UK", "gold", "2021-03-04"),
        (2, "Grace Hopper", "grace@navy.example", "US", "silver", "2022-11-30"),
        (3, "Linus T.", "linus@kernel.example", "FI", "bronze", "2020-01-15"),
        (4, "Margaret Hamilton", "mh@moon.example", "US", "gold", "2019-07-20"),
        (5, "Edsger Dijkstra", "ewd@short.example", "NL", "bronze", "2023-05-11"),
        (6, "Barbara Liskov", "liskov@mit.example", "US", "silver", "2021-12-01"),
        (7, "Zoë Ångström", "zoe@units.example", "SE", "bronze", "2024-02-29"),
    ]
]
ORDERS = [
    {
        "id": f"A-{100 + k}",
        "customer_id": c,
        "status": s,
        "created": d,
        "currency": cur,
        "items": [dict(zip(("sku", "qty", "price"), i, strict=True)) for i in items],
    }
    for k, (c, s, d, cur, items) in enumerate(
        [
            (1, "open", "2024-01-05T10:00:00", "EUR", [("P1", 2, "19.99"), ("P2", 1, "5.00")]),
            (1, "paid", "2024-01-07T12:30:00", "EUR", [("P3", 10, "0.10")]),
            (2, "open", "2024-02-01T08:15:00", "USD", [("P1", 1, "21.50")]),
            (3, "shipped", "2024-02-11T23:59:59", "EUR", [("P4", 3, "99.95"), ("P2", 4, "4.75")]),
            (4, "open", "2024-02-12T00:00:00", "USD", [("P5", 1, "1200.00")]),
            (4, "cancelled", "2024-03-01T09:00:00", "USD", [("P5", 2, "1180.00")]),
            (6, "paid", "2024-03-03T16:45:10", "GBP", [("P2", 7, "4.20"), ("P3", 100, "0.09")]),
            (7, "open", "2024-03-15T11:11:11", "SEK", [("P4", 1, "1050.00")]),
        ]
    )
]
FILES = {
    "sales.csv": "date,region,amount\n2024-01-01,north,100.50\n2024-01-02,south,80\n2024-01-02,north,20.25\n2024-01-03,east,\n2024-01-03,south,19.75\n",
    "config.json": json.dumps({"retries": 3, "flags": {"beta": True, "dark": False}, "limits": [1, 2, 3]}),
    "people.csv": 'name;age;city\n"Smith, J.";42;London\nMüller;37;Köln\nO\'Neil;29;Cork\n',
}
MAIL = [
    {
        "id": 1,
        "from": "ada@example.org",
        "subject": "Re: Invoice A-100",
        "body": "Hi,\nI paid 44.98 EUR on 2024-01-09.\nThanks",
        "date": "Tue, 09 Jan 2024 10:00:00 +0000",
        "unread": True,
    },
    {
        "id": 2,
        "from": "shop@spam.example",
        "subject": "WIN $$$ NOW",
        "body": "click http://spam.example/?id=1&x=2",
        "date": "Wed, 10 Jan 2024 01:00:00 +0000",
        "unread": True,
    },
    {
        "id": 3,
        "from": "mh@moon.example",
        "subject": "meeting",
        "body": "Can we meet on 2024-02-20 at 14:30? Room B. cc: liskov@mit.example",
        "date": "Mon, 12 Feb 2024 09:30:00 -0500",
        "unread": False,
    },
    {
        "id": 4,
        "from": "grace@navy.example",
        "subject": "Re: Re: order A-102 late",
        "body": "Where is A-102? Tel +1 (555) 010-9999",
        "date": "Fri, 16 Feb 2024 17:20:00 -0500",
        "unread": True,
    },
]


class Office:
    """The tools."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self._tries: dict[str, int] = {}
        self._written: dict[str, str] = {}
        self._next = 0

    def _note(self, name: str, *args: Any) -> None:
        self.calls.append([name, *args])

    def customers(self, page: int = 1, per_page: int = 3) -> dict:
        """A page of customers."""
        self._note("customers", page, per_page)
        part = CUSTOMERS[(page - 1) * per_page : page * per_page]
        return {"items": [dict(c) for c in part], "next": page + 1 if page * per_page < len(CUSTOMERS) else None}

    def customer(self, id: int) -> dict:
        """One customer. Raises: LookupError."""
        self._note("customer", id)
        for c in CUSTOMERS:
            if c["id"] == id:
                return dict(c)
        raise LookupError(f"no customer {id}")

    def orders(self, customer_id: int | None = None, status: str | None = None) -> list[dict]:
        """The orders of a customer, or with a status."""
        self._note("orders", customer_id, status)
        return [
            json.loads(json.dumps(o))
            for o in ORDERS
            if customer_id in (None, o["customer_id"]) and status in (None, o["status"])
        ]

    def update_order(self, id: str, status: str) -> dict:
        """Set the status of an order. Raises: ValueError."""
        self._note("update_order", id, status)
        if status not in ("open", "paid", "shipped", "cancelled"):
            raise ValueError(f"unknown status {status!r}")
        return {"id": id, "status": status}

    def send_mail(self, to: str, subject: str, body: str = "") -> dict:
        """Send a mail. Raises: ValueError: that is not an address."""
        self._note("send_mail", to, subject, body)
        if "@" not in to:
            raise ValueError(f"not an address: {to}")
        self._next += 1
        return {"sent": True, "id": self._next}

    def inbox(self, unread: bool = True) -> list[dict]:
        """The mails."""
        self._note("inbox", unread)
        return [dict(m) for m in MAIL if m["unread"] or not unread]

    def read_file(self, path: str) -> str:
        """Read a file. Raises: FileNotFoundError."""
        self._note("read_file", path)
        if path in self._written:
            return self._written[path]
        if path not in FILES:
            raise FileNotFoundError(f"no such file: {path}")
        return FILES[path]

    def write_file(self, path: str, text: str) -> int:
        """Write a file; return its length."""
        self._note("write_file", path, text)
        self._written[path] = text
        return len(text)

    def weather(self, city: str, day: str = "today") -> dict:
        """The weather of a city. Two cities do not answer at once."""
        self._note("weather", city, day)
        tries = self._tries[city] = self._tries.get(city, 0) + 1
        if city in ("Oslo", "Lima") and tries < 3:
            raise TimeoutError(f"weather of {city} timed out")
        if city == "Atlantis":
            raise ValueError("no such city: Atlantis")
        k = sum(map(ord, city + day))
        return {"city": city, "temp": k % 35 - 5, "rain": k % 100 / 100, "wind": k % 17}

    def stock(self, sku: str) -> int:
        """The pieces in stock; -1 for unknown goods."""
        self._note("stock", sku)
        return {"P1": 3, "P2": 0, "P3": 1000, "P4": 1}.get(sku, -1)

    def create_ticket(self, title: str, priority: int = 3, body: str = "") -> int:
        """Open a ticket; return its number."""
        self._note("create_ticket", title, priority, body)
        self._next += 1
        return 7000 + self._next

    def tickets(self, status: str = "open") -> list[dict]:
        """The tickets with a status."""
        self._note("tickets", status)
        return (
            [
                {"id": 9, "title": "Login broken", "priority": 1, "tags": ["auth", "p1"]},
                {"id": 12, "title": "typo on page", "priority": 5, "tags": []},
                {"id": 10, "title": "Slow search", "priority": 2, "tags": ["perf"]},
            ]
            if status == "open"
            else []
        )
