"""A shop as a file of tools, a goal over it, and a model's reply to that goal."""

PLAN = """```python
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] read the stock of apples')
        n = agent.stock("apples")
        assert n < 10, "there are enough apples"
    if start_from <= 2:
        print('[Step 2] order apples')
        said = agent.order("apples", 10 - n)
        assert said == "ok", "not ordered"
    return {"ordered": 10 - n}
```"""
GOAL = "Order apples up to 10"
TOOLS = '''
def stock(fruit: str) -> int:
    """How many there are."""
    return {"apples": 3, "pears": 12}.get(fruit, 0)

def order(fruit: str, count: int) -> str:
    with open("orders.txt", "a") as file:
        file.write(f"{fruit} {count} ")
    return "ok"

def unneeded() -> None: ...

def verify(value):
    return "ordered" in value

def model(messages):
    return PLAN
'''


class Shop:
    """The same tools as an object, which keeps its orders."""

    def __init__(self):
        self.orders = []

    def stock(self, fruit: str) -> int:
        return 3

    def order(self, fruit: str, count: int) -> str:
        self.orders.append((fruit, count))
        return "ok"

    def unneeded(self) -> None: ...
