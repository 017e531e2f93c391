"""Generalises a plan: values that belong to one episode become parameters or questions.

A text in the goal or in the first observation is known before a plan runs. It becomes a parameter, assigned at the
plan's head. A thing that only a later observation names is not: the plan asks for it before its first use.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import libcst as cst

from codeplan.sandbox.language.digest import step_title
from codeplan.sandbox.language.extraction import PARAMETERS_CLOSING, PARAMETERS_OPENING
from codeplan.sandbox.language.parsing import parse_plan
from codeplan.sandbox.language.plan_outline import outline_plan, step_number

ParameterValue: TypeAlias = str | list[str] | list[int | float] | int | float

_NAME = re.compile(r"\b[A-Za-z][\w-]*(?: [A-Za-z][\w-]*)? \d+\b")
_COMMON_WORDS = re.compile(
    "an?|and|are|at|by|find|for|from|get|go|in|into|is|it|look|make|of|on|one|or|put|some|task|than|the|them|then|this"
    "|to|two|under|use|using|with|you|your",
    re.IGNORECASE,
)
_MAX_TEXT = 300
_NUMBER = re.compile(r"(?<![\w.,:/-])(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?(?![\w:/-]|[.,]\d)", re.ASCII)
"""A number in a goal that is no part of a date, a time, an address or a name."""


@dataclass(frozen=True)
class EpisodeTexts:
    """The texts of an episode: the task's goal, the first observation, and all later ones."""

    goal: str
    first_observation: str
    later_observations: str

    def in_goal(self, text: str) -> bool:
        """Return whether the goal contains this text, as words that mean something, or this date in another form.

        A folder's path may end with a slash here, and not there.
        """
        text = text.removesuffix("/") if text.count("/") > 1 else text
        if _COMMON_WORDS.fullmatch(text):
            return False
        return _contains_words(self.goal, text) or _contains_date(self.goal, text)

    def in_first_observation(self, text: str) -> bool:
        """Return whether the first observation contains this text with a number: a thing's name or an amount."""
        return any(c.isdigit() for c in text) and _contains_words(self.first_observation, text)

    def seen_later(self, text: str) -> bool:
        """Return whether it is a thing's name, such as ``mug 2``, that only later observations contain."""
        known = self.in_first_observation(text)
        return not known and bool(_NAME.fullmatch(text)) and _contains_words(self.later_observations, text)


@dataclass
class NewParameter:
    """A value that becomes a parameter. ``about`` says what it is for; ``name`` is its new name."""

    value: ParameterValue
    about: str
    name: str = ""

    @property
    def literal(self) -> str:
        """The value as text that is both JSON and Python."""
        return json.dumps(self.value, ensure_ascii=False)


def walk_cst(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield a node and all nodes below it in source order."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(current.children)


def string_value(node: cst.BaseExpression) -> str | None:
    """Return the text of a plain string; None for anything else."""
    if not isinstance(node, cst.SimpleString):
        return None
    value = node.evaluated_value
    return value if isinstance(value, str) else None


def string_list(node: cst.BaseExpression) -> list[str] | None:
    """Return the texts of a list, tuple or set of two or more plain strings; None for anything else."""
    if not isinstance(node, (cst.List, cst.Tuple, cst.Set)) or len(node.elements) < 2:
        return None
    texts = [string_value(e.value) if isinstance(e, cst.Element) else None for e in node.elements]
    return [t for t in texts if t is not None] if None not in texts else None


def number_list(node: cst.BaseExpression) -> list[int | float] | None:
    """Return the numbers of a list, tuple or set of two or more plain numbers; None for anything else."""
    if not isinstance(node, (cst.List, cst.Tuple, cst.Set)) or len(node.elements) < 2:
        return None
    values = [e.value if isinstance(e, cst.Element) else None for e in node.elements]
    numbers = [v.evaluated_value for v in values if isinstance(v, (cst.Integer, cst.Float))]
    return numbers if len(numbers) == len(values) else None


GoalList: TypeAlias = list[str] | list[int | float]


def find_lists(solution: cst.FunctionDef, goal: str) -> list[GoalList]:
    """Return the lists of the plan whose values the goal enumerates, once and in their order, and which it only reads
    one by one or hands to a tool: a list of another length would do as well.
    """
    lists = [v for n in walk_cst(solution.body) if (v := _literal_list(n)) and _enumeration(v).search(goal)]
    if len(lists) != 1 or len(_enumeration(lists[0]).findall(goal)) != 1 or len(set(lists[0])) != len(lists[0]):
        return []
    values = lists[0]
    own = {json.dumps(v) for v in values}
    literals = [_literal(n) for n in walk_cst(solution.body)]
    used = _NumberFinder()
    solution.body.visit(used)
    if sum(text in own for text in literals) != len(values) or str(len(values)) in {*used.free, *used.barred}:
        return []
    return [values] if _is_read_in_order(solution, values) else []


def _literal_list(node: cst.CSTNode) -> GoalList | None:
    return (string_list(node) or number_list(node)) if isinstance(node, cst.BaseExpression) else None


def _literal(node: cst.CSTNode) -> str | None:
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        value = node.evaluated_value
        return json.dumps(value) if isinstance(value, (str, int, float)) else None
    return None


def _enumeration(values: GoalList) -> re.Pattern[str]:
    """The values one after the other, with commas or *and* between them."""
    texts = [re.escape(str(v)) for v in values]
    return re.compile(rf"(?<![\w.,:/#-]){r'(?:, and |, | and | & )'.join(texts)}(?![\w:/-]|[.,]\d)")


def _is_read_in_order(solution: cst.FunctionDef, values: GoalList) -> bool:
    """Whether the only list with these values is read by loops and tools alone, directly or by its only name."""
    names: set[str] = set()
    allowed, uses = 0, 0

    def is_it(read: cst.BaseExpression) -> bool:
        return _literal_list(read) == values or (isinstance(read, cst.Name) and read.value in names)

    for node in walk_cst(solution.body):
        match node:
            case cst.For(iter=read) | cst.CompFor(iter=read):
                allowed += is_it(read)
            case cst.Call(func=called, args=given) if _reads_any_length(called):
                allowed += sum(is_it(arg.value) for arg in given)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=read) if (
                _literal_list(read) == values
            ):
                names.add(name)
                allowed += 2
        uses += (isinstance(node, cst.Name) and node.value in names) or _literal_list(node) == values
    return len(names) <= 1 and allowed > 0 and allowed == uses


_READERS = frozenset({"len", "enumerate", "sorted", "reversed", "set", "list", "tuple", "each", "print"})


def _reads_any_length(called: cst.BaseExpression) -> bool:
    """Whether a call takes a list of any length: that of a tool, or of a builtin that pairs it with nothing."""
    if isinstance(called, cst.Attribute):
        return isinstance(called.value, cst.Name) and called.value.value == "agent"
    return isinstance(called, cst.Name) and called.value in _READERS


def find_parameters(
    parts: Sequence[tuple[str, cst.CSTNode]],
    episode: EpisodeTexts,
    taken: Iterable[str],
    numbers: Sequence[str] = (),
    lists: Sequence[GoalList] = (),
) -> list[NewParameter]:
    """Return a plan's parameters in the order of first use.

    ``parts`` are its pieces, each with its purpose; ``taken`` are the plan's own names. ``numbers`` are those, as
    written, that become parameters, too, and ``lists`` those lists.
    """
    found: dict[str, NewParameter] = {}
    for about, part in parts:
        for value in _episode_values(part, episode, numbers, lists):
            parameter = NewParameter(value, about)
            found.setdefault(parameter.literal, parameter)
    names = set(taken)
    for parameter in found.values():
        parameter.name = _unused_the_name(_parameter_name(parameter.value, episode), names)
        names.add(parameter.name)
    return list(found.values())


def names_to_ask(part: cst.CSTNode, episode: EpisodeTexts) -> list[str]:
    """Return the names of things in a part of the plan that are unknown until the episode shows them."""
    texts = (string_value(n) for n in walk_cst(part) if isinstance(n, cst.SimpleString))
    return list(dict.fromkeys(t for t in texts if t is not None and episode.seen_later(t)))


def unused_name(text: str, taken: set[str]) -> str:
    """Return a name that is made of the text's words and not taken."""
    return _unused_the_name(_identifier(text), taken)


def _episode_values(
    part: cst.CSTNode, episode: EpisodeTexts, numbers: Sequence[str], lists: Sequence[GoalList]
) -> Iterator[ParameterValue]:
    inside: set[int] = set()
    for node in walk_cst(part):
        if id(node) in inside:
            continue
        texts = string_list(node) if isinstance(node, cst.BaseExpression) else None
        values = _literal_list(node) if lists else None
        if values in lists and values is not None:
            inside |= {id(n) for n in walk_cst(node)}
            yield values
            continue
        if texts and all(episode.in_first_observation(t) for t in texts):
            inside |= {id(n) for n in walk_cst(node)}
            yield texts
        if isinstance(node, (cst.Integer, cst.Float)) and node.value in numbers:
            yield node.evaluated_value
        text = string_value(node) if isinstance(node, cst.SimpleString) else None
        if text is None or not 2 <= len(text) <= _MAX_TEXT:
            continue
        if episode.in_goal(text) or episode.in_first_observation(text):
            yield text


def find_numbers(module: cst.Module, solution: cst.FunctionDef, goal: str) -> list[str]:
    """Return the numbers, as written, that the goal gives once and that the plan has only where a name may stand.

    0 and 1 are never the goal's alone. A number of one digit may be the plan's own by chance, so it must occur once.
    A number that a text of the plan has, too, stays: the text would keep it.
    """
    given = Counter(_NUMBER.findall(goal))
    used, elsewhere = _NumberFinder(), _NumberFinder()
    solution.body.visit(used)
    for statement in module.body:
        if statement is not solution:
            statement.visit(elsewhere)
    barred = used.barred | set(elsewhere.free) | elsewhere.barred
    alone = (n for n in used.free if given[n] == 1 and n not in barred and float(n) not in (0, 1))
    return [n for n in alone if (len(n) > 1 or used.free[n] == 1) and json.dumps(json.loads(n)) == n]


class _NumberFinder(cst.CSTVisitor):
    """Counts the numbers that a name may replace, and notes those in other places: texts, patterns, indices.

    What is printed, and the message of an assertion, may keep a number: nothing depends on it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.free: Counter[str] = Counter()
        self.barred: set[str] = set()

    def visit_Comparison(self, node: cst.Comparison) -> bool:
        return not _is_step_test(node)

    def visit_Call(self, node: cst.Call) -> bool:
        return not (isinstance(node.func, cst.Name) and node.func.value == "print")

    def visit_Assert(self, node: cst.Assert) -> bool:
        node.test.visit(self)
        return False

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        self.barred |= set(_NUMBER.findall(node.raw_value))

    def visit_FormattedStringText(self, node: cst.FormattedStringText) -> None:
        self.barred |= set(_NUMBER.findall(node.value))

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> bool:
        return self._bar(node)

    def visit_MatchCase(self, node: cst.MatchCase) -> bool:
        return self._bar(node)

    def visit_SubscriptElement(self, node: cst.SubscriptElement) -> bool:
        return self._bar(node)

    def visit_Integer(self, node: cst.Integer) -> None:
        self.free[node.value] += 1

    def visit_Float(self, node: cst.Float) -> None:
        self.free[node.value] += 1

    def _bar(self, node: cst.CSTNode) -> bool:
        self.barred |= {n.value for n in walk_cst(node) if isinstance(n, (cst.Integer, cst.Float))}
        return False


def _is_step_test(node: cst.Comparison) -> bool:
    return isinstance(node.left, cst.Name) and node.left.value == "start_from"


def _parameter_name(value: ParameterValue, episode: EpisodeTexts) -> str:
    """Return a parameter's name: by its role in the goal, or else by the kind of thing."""
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, list):
        if any(not isinstance(v, str) for v in value):
            return "numbers"
        in_goal = all(isinstance(v, str) and episode.in_goal(v) for v in value)
        return "items" if in_goal else "places" if all(_NAME.fullmatch(str(v)) for v in value) else "choices"
    if episode.in_goal(value):
        return "item"
    to_last_letter = re.match(r".*[^\W\d]", value, re.DOTALL)
    sort = to_last_letter[0] if to_last_letter else ""
    return "target" if episode.in_goal(sort) else _identifier(sort)


def _identifier(text: str) -> str:
    words = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")[:30]
    return words if words[:1].isalpha() else f"value_{words}".rstrip("_")


def _unused_the_name(name: str, taken: set[str]) -> str:
    """Return the name after ``the_``, followed by a number if that is taken."""
    wanted = f"the_{name}"
    return next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, 10_000))) if n not in taken)


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _contains_date(where: str, text: str) -> bool:
    """Whether the text is a date as in 2026-03-01, which is there as 1 March 2026, March 1st, 2026 or 01.03.2026."""
    parts = re.fullmatch(r"([1-9]\d{3})-(0[1-9]|1[0-2])-([0-3]\d)", text, re.ASCII)
    if parts is None:
        return False
    year, month, day = parts[1], int(parts[2]), f"0?{int(parts[3])}"
    name = f"(?:{_MONTHS[month - 1]}|{_MONTHS[month - 1][:3]})"
    nth = f"{day}(?:st|nd|rd|th)?"
    forms = (f"{nth}(?: of)? {name},? {year}", f"{name} {nth},? {year}", rf"{day}\.0?{month}\.{year}")
    return any(re.search(rf"(?<![\w.-]){form}(?![\w-])", where, re.IGNORECASE) for form in forms)


def _contains_words(where: str, text: str) -> bool:
    if not text.strip() or not re.search(r"\w", text):
        return False
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", where, re.IGNORECASE) is not None


GeneralisedPlan: TypeAlias = dict[str, Any]

cst.parse_module("")  # loads the parser now: the cage can load no modules

_ARGUMENTS = ("goal", "first", "later")


def generalise(source: str, arguments: dict[str, Any]) -> GeneralisedPlan:
    """Return the plan with parameters and questions in place of what belongs to one episode.

    ``arguments``: ``goal``, the task's sentence; ``first``, the first observation; ``later``, all others, joined;
    ``numbers``, whether it is over tools: numbers of the goal become parameters, too, and fields' names do not. The
    result has ``source``; ``parameters``, each with ``name``, ``value`` (a text, a list of texts, or a number) and
    ``about``; ``asks``, the variables that hold answers. A plan with nothing to generalise, or with parameters already,
    is returned unchanged.

    Raises: RejectedPlanError: the source is not Python. ValueError: an argument is missing.
    """
    episode = _episode_texts(arguments)
    tree = parse_plan(source)
    module = cst.parse_module(source)
    solution = next((s for s in module.body if isinstance(s, cst.FunctionDef) and s.name.value == "solution"), None)
    if solution is None or not isinstance(solution.body, cst.IndentedBlock) or PARAMETERS_OPENING in source:
        return {"source": source, "parameters": [], "asks": []}
    titles = {p.step: step_title(p) for p in outline_plan(tree).steps if p.step is not None}
    pieces = [_plan_piece(s, titles) for s in solution.body.body]
    taken = {n.value for n in walk_cst(module) if isinstance(n, cst.Name)}
    of_tools = arguments.get("numbers") is True
    numbers = find_numbers(module, solution, episode.goal) if of_tools else []
    lists = find_lists(solution, episode.goal) if of_tools else []
    found = find_parameters([(about, node) for about, node in pieces], episode, taken, numbers, lists)
    fields = _field_names(solution) if of_tools else set()
    found = [p for p in found if isinstance(p.value, list) or p.value not in fields]
    questions = _Questions(found, episode, taken | {p.name for p in found})
    asking = solution.with_changes(body=questions.insert_questions(solution.body))
    replacer = _ValueReplacer(found, questions.names)
    general = _with_head(_replace_values(asking, replacer), episode.goal, found)
    body = [general if s is solution else _replace_values(s, replacer) for s in module.body]
    code = module.with_changes(header=[line.visit(replacer) for line in module.header], body=body).code
    shown = [{"name": p.name, "value": p.value, "about": p.about} for p in found]
    return {"source": code, "parameters": shown, "asks": sorted(questions.names.values())}


_FIELD_READERS = frozenset({"get", "pop", "setdefault"})


def _field_names(solution: cst.FunctionDef) -> set[str]:
    """The texts that are keys alone: a field's name may be a word of the goal by chance, as in ``row["euros"]``."""
    keys: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for node in walk_cst(solution.body):
        match node:
            case cst.SimpleString():
                texts.update(filter(None, [string_value(node)]))
            case cst.SubscriptElement(slice=cst.Index(value=key)):
                keys.update(filter(None, [string_value(key)]))
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)), args=[first, *_]) if name in _FIELD_READERS:
                keys.update(filter(None, [string_value(first.value)]))
    return {key for key, count in keys.items() if count == texts[key]}


def _episode_texts(arguments: dict[str, Any]) -> EpisodeTexts:
    for name in _ARGUMENTS:
        if not isinstance(arguments.get(name), str):
            raise ValueError(f"the argument {name!r} is missing; pass a text")
    return EpisodeTexts(*(arguments[name] for name in _ARGUMENTS))


def _plan_piece(statement: cst.CSTNode, titles: dict[int, str]) -> tuple[str, cst.CSTNode]:
    """Return a statement of ``solution`` with its purpose: the title of its step."""
    if isinstance(statement, cst.If):
        step = step_number(parse_plan(cst.Module([statement]).code).body[0])
        if step is not None:
            return f"step {step}: {titles.get(step, '')}", statement
    return "the whole plan", statement


class _Questions:
    """Inserts questions into steps, before the first use of things that were seen only there."""

    def __init__(self, found: Sequence[NewParameter], episode: EpisodeTexts, taken: set[str]) -> None:
        self._found, self._episode, self._taken = found, episode, taken
        self.names: dict[str, str] = {}

    def insert_questions(self, body: cst.IndentedBlock) -> cst.IndentedBlock:
        """Return the body of ``solution`` with the questions in its steps."""
        return body.with_changes(body=[self._step(s) if isinstance(s, cst.If) else s for s in body.body])

    def _step(self, step: cst.If) -> cst.If:
        if not isinstance(step.body, cst.IndentedBlock):
            return step
        statements: list[cst.BaseStatement] = []
        for statement in step.body.body:
            new = [name for name in names_to_ask(statement, self._episode) if name not in self.names]
            statements += [*map(self._question, new), statement]
        return step.with_changes(body=step.body.with_changes(body=statements))

    def _question(self, name: str) -> cst.BaseStatement:
        sort = name.rpartition(" ")[0]
        variable = self.names[name] = unused_name(sort, self._taken)
        self._taken.add(variable)
        known = next((p.name for p in self._found if p.value == sort), None)
        sort = f"{{{known}}}" if known else sort
        question = f"Which {sort} is to be used now? {{agent.report()}} Answer with its name as a Python string."
        return cst.parse_statement(f"{variable} = literal_eval(ask_llm(f{question!r}))")


class _ValueReplacer(cst.CSTTransformer):
    """Puts names in place of values, also within longer texts and comments."""

    def __init__(self, found: Sequence[NewParameter], asked_for: dict[str, str]) -> None:
        super().__init__()
        self._lists = [(p.value, p.name) for p in found if isinstance(p.value, list)]
        texts = {p.value: p.name for p in found if isinstance(p.value, str)} | asked_for
        self._texts = dict(sorted(texts.items(), key=lambda item: -len(item[0])))
        self._numbers = {p.value: p.name for p in found if isinstance(p.value, (int, float))}
        choices = "|".join(re.escape(t) for t in self._texts)
        self._within = re.compile(rf"(?<![\w\\]){'(?:' + choices + ')'}(?!\w)") if choices else None
        self._joined = 0  # how many concatenations of texts this is within

    def visit_Comparison(self, node: cst.Comparison) -> bool:
        return not _is_step_test(node)

    def leave_Integer(self, original_node: cst.Integer, updated_node: cst.Integer) -> cst.BaseExpression:
        return self._for_number(original_node) or updated_node

    def leave_Float(self, original_node: cst.Float, updated_node: cst.Float) -> cst.BaseExpression:
        return self._for_number(original_node) or updated_node

    def visit_MatchCase(self, node: cst.MatchCase) -> bool:
        return False  # a name in a pattern would capture, not compare

    def visit_Annotation(self, node: cst.Annotation) -> bool:
        return False  # a text there names a type

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> bool:
        return False  # older Pythons allow little inside a field

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> None:
        self._joined += 1

    def leave_ConcatenatedString(
        self, original_node: cst.ConcatenatedString, updated_node: cst.ConcatenatedString
    ) -> cst.BaseExpression:
        self._joined -= 1
        return updated_node

    def leave_List(self, original_node: cst.List, updated_node: cst.List) -> cst.BaseExpression:
        return self._for_list(original_node) or updated_node

    def leave_Tuple(self, original_node: cst.Tuple, updated_node: cst.Tuple) -> cst.BaseExpression:
        return self._for_list(original_node) or updated_node

    def leave_Set(self, original_node: cst.Set, updated_node: cst.Set) -> cst.BaseExpression:
        return self._for_list(original_node) or updated_node

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.BaseExpression:
        text = string_value(original_node)
        if text is None:
            return updated_node
        if text in self._texts:
            name = self._texts[text]
            return cst.parse_expression(f'f"{{{name}}}"') if self._joined else cst.Name(name)
        inner = original_node.raw_value
        if self._within is None or not self._within.search(inner) or "\\N{" in inner:
            return updated_node
        body = self._within.sub(lambda m: f"\0{self._texts[m[0]]}\1", inner)
        body = body.replace("{", "{{").replace("}", "}}").replace("\0", "{").replace("\1", "}")
        quote = original_node.quote
        return cst.parse_expression(f"f{original_node.prefix}{quote}{body}{quote}")

    def leave_FormattedStringText(
        self, original_node: cst.FormattedStringText, updated_node: cst.FormattedStringText
    ) -> cst.BaseFormattedStringContent | cst.FlattenSentinel[cst.BaseFormattedStringContent]:
        text = original_node.value
        if self._within is None or not self._within.search(text):
            return updated_node
        parts: list[cst.BaseFormattedStringContent] = []
        end = 0
        for found in self._within.finditer(text):
            parts += [cst.FormattedStringText(text[end : found.start()])] if found.start() > end else []
            parts.append(cst.FormattedStringExpression(cst.Name(self._texts[found[0]])))
            end = found.end()
        parts += [cst.FormattedStringText(text[end:])] if text[end:] else []
        return cst.FlattenSentinel(parts)

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.Expr:
        alone = isinstance(original_node.value, (cst.SimpleString, cst.ConcatenatedString))
        return original_node if alone else updated_node

    def leave_Comment(self, original_node: cst.Comment, updated_node: cst.Comment) -> cst.Comment:
        if self._within is None:
            return updated_node
        return cst.Comment(self._within.sub(lambda m: f"<{self._texts[m[0]]}>", original_node.value))

    def _for_number(self, node: cst.Integer | cst.Float) -> cst.Name | None:
        name = self._numbers.get(node.evaluated_value)
        return cst.Name(name) if name and json.dumps(node.evaluated_value) == node.value else None

    def _for_list(self, node: cst.BaseExpression) -> cst.Name | None:
        values = _literal_list(node)
        return next((cst.Name(name) for value, name in self._lists if values == value), None) if values else None


_Statement = TypeVar("_Statement", bound=cst.CSTNode)


def _replace_values(statement: _Statement, replacer: _ValueReplacer) -> _Statement:
    """Replace values in a function's body. All other statements run before the parameters exist."""
    if not isinstance(statement, cst.FunctionDef):
        return statement
    made = statement.visit(replacer)
    assert isinstance(made, cst.FunctionDef), "no statement is taken out"
    return made.with_changes(params=statement.params, decorators=statement.decorators)


def _with_head(solution: cst.FunctionDef, goal: str, found: Sequence[NewParameter]) -> cst.FunctionDef:
    """Return ``solution`` with its parameters at the head of its body."""
    if not found or not isinstance(solution.body, cst.IndentedBlock):
        return solution
    lines = [f"{PARAMETERS_OPENING} {' '.join(goal.split())[:300]}"]
    for p in found:
        lines += [f"# {p.name}: {' '.join(p.about.split())[:200]}", f"{p.name} = {p.literal}"]
    _, *head = cst.parse_module("\n".join(["pass", *lines, ""])).body  # "pass" keeps the first comment with a statement
    first, *rest = solution.body.body
    assert isinstance(first, (cst.SimpleStatementLine, cst.BaseCompoundStatement)), "there is no other statement"
    closing = cst.EmptyLine(comment=cst.Comment(PARAMETERS_CLOSING))
    first = first.with_changes(leading_lines=[closing, *first.leading_lines])
    return solution.with_changes(body=solution.body.with_changes(body=[*head, first, *rest]))
