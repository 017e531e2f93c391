"""Writes plans by asking the model: prompts in, plan sources out. Tells what earlier turns of a session were about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from msgspec.structs import replace

from codeplan.episode.episode import Episode
from codeplan.episode.history import MAX_SHOWN_TURNS, MAX_SHOWN_VALUE, PastTurn
from codeplan.planning.asking import (
    SampleSettings,
    api_text,
    ask_messages,
    ask_template,
    choose_samples,
    render_messages,
    render_text,
)
from codeplan.planning.feedback import (
    MAX_ATTEMPTS,
    MAX_CONVERSATION_CHARS,
    RunReport,
    ShownParts,
    answer_shape,
    call_shape,
    done_lines,
    limits_left,
    prompt_values,
    repair_values,
    rewrite_values,
    shape_text,
    tag_mark,
    turn_values,
    words_if_blind,
    words_of,
)
from codeplan.prompts.templates import Prompts
from codeplan.recording.events import AnsweredCall
from codeplan.sandbox import Sandbox
from codeplan.sandbox.language.extraction import add_header, prose_of
from codeplan.skills.parameter_binding import (
    BindingError,
    ParameterBlock,
    SkillParameterValue,
    bind_parameters,
    holds_values,
    parse_values,
    read_parameters,
)
from codeplan.skills.skill import Skill
from codeplan.types import ASK_USER, Claimed, Message, Purpose, Success, Task, Value
from codeplan.untrusted.texts import excerpt, one_line, with_count
from codeplan.untrusted.values import clip_name, shown_call, unpacked, value_text, variable_texts

if TYPE_CHECKING:
    from codeplan.skills.parameter_binding import ParameterBlock
    from codeplan.skills.skill import Skill


class ConversationTurn(Value, frozen=True):
    """One reply of the model, and the report on its plan.

    ``reply`` is the program in the reply, ``plan`` the whole plan that resulted from it, ``told`` the report on the
    plan's run that the model received, and ``summary`` that report in one line. ``shown`` are the parts that the report
    does not find above it. ``talk`` are the model's questions to the user after it, and the user's answers.
    """

    reply: str
    plan: str
    told: str
    summary: str
    shown: ShownParts = ShownParts()
    talk: tuple[Message, ...] = ()


class PlanConversation:
    """The messages of the conversation: two that state the task, then each reply with the report on it.

    Messages that were sent do not change, so that endpoints' prefix caches hit. When the turns exceed
    MAX_CONVERSATION_CHARS, the oldest are dropped until the rest takes half of that. The first remaining reply is then
    replaced by the whole plan of that time.
    """

    def __init__(self, opening: Sequence[Message]) -> None:
        self._opening = list(opening)
        self._turns: list[ConversationTurn] = []
        self._dropped: list[str] = []

    def add(self, write: Callable[[Sequence[str], ShownParts], ConversationTurn]) -> None:
        """Add the turn that ``write`` makes from one line for each dropped turn, and from what the others show.

        If older turns are dropped for it, it is written again.
        """
        self._turns.append(write((), self._shown))
        if self._length <= MAX_CONVERSATION_CHARS:
            return
        while len(self._turns) > 1 and self._length > MAX_CONVERSATION_CHARS // 2:
            self._dropped.append(self._turns.pop(0).summary)
        if self._dropped:
            self._turns.pop()
            self._turns.append(write(self._dropped, self._shown))

    @property
    def _shown(self) -> ShownParts:
        """What the reports so far show."""
        return reduce(ShownParts.followed_by, (turn.shown for turn in self._turns), ShownParts())

    def add_talk(self, talk: Sequence[Message]) -> None:
        """Add a question of the model to the user, and the answer."""
        if self._turns:
            last = self._turns[-1]
            self._turns[-1] = replace(last, talk=(*last.talk, *talk))
        else:
            self._opening += talk

    @property
    def messages(self) -> list[Message]:
        """The messages up to the latest report."""
        messages: list[Message] = list(self._opening)
        for number, turn in enumerate(self._turns):
            program = turn.plan if number == 0 and self._dropped else turn.reply
            fenced = f"```python\n{program.strip() or '# no program'}\n```"
            messages.append({"role": "assistant", "content": fenced})
            messages.append({"role": "user", "content": turn.told})
            messages += turn.talk
        return messages

    @property
    def _length(self) -> int:
        talks = (len(message["content"]) for turn in self._turns for message in turn.talk)
        return sum(len(turn.reply) + len(turn.told) for turn in self._turns) + sum(talks)


RefinePrompt = Literal["conversation", "fresh", "fresh-without-plan"]
"""Whether a refinement continues the conversation, or has a prompt of its own: with the whole plan (the paper's in
MiniWoB++), or with the error's message alone (the paper's in ALFWorld).
"""

MAX_QUESTIONS: Final = 20
"""How often in a task the model may ask the user in place of a plan. A further reply in words is a refused plan."""

_ONE_SAMPLE: Final = SampleSettings()


class Planner:
    """The PlanWriter that asks the model.

    ``task`` is the episode's task or a sub-task of it. ``sandbox`` finds the code in replies. The prompts show worked
    examples (see ``choose_samples``), then ``skills``. ``asks`` is the maximum number of questions in one run;
    ``tries`` and ``replans`` are the method's limits; without ``asks`` or ``replans`` the prompts do not mention
    ``ask_llm`` or ``replan``. ``refine_prompt`` is the form of the prompts for refinements. ``at_entry`` says that a
    failed step resumes with the variables that it began with, not those at the failure.
    """

    def __init__(
        self,
        episode: Episode,
        prompts: Prompts,
        sandbox: Sandbox,
        task: Task | None = None,
        *,
        samples: SampleSettings = _ONE_SAMPLE,
        skills: Sequence[Skill] = (),
        asks: int = 0,
        tries: int | None = None,
        replans: int = 0,
        refine_prompt: RefinePrompt = "conversation",
        at_entry: bool = False,
    ) -> None:
        self._episode, self._prompts, self._refine_prompt = episode, prompts, refine_prompt
        self._sandbox = sandbox
        task = task or episode.task
        goal = episode.goal_of(task)
        self._limits = {"asks": asks or None, "tries": tries, "replans": replans or None}
        once = episode.once_tools
        self._language = {"asks": asks > 0, "replans": replans > 0, "tools": episode.has_tools, "once": once}
        self._language |= {"brief": episode.has_tools, "at_entry": at_entry, "asks_user": episode.asks_user}
        self._questions = MAX_QUESTIONS if episode.asks_user else 0
        self._talk: list[Message] = []  # questions to the user, and the answers
        self._is_blind = episode.is_blind
        self._conversation: PlanConversation | None = None
        self._reply: str | None = None  # the program in the latest reply; None after a repair
        self._attempts: list[str] = []
        self._values = {
            "api": api_text(episode, prompts, task, "adaplanner/_returns", episode.api),
            "advice": prompts.advice(episode.env.name),
            "samples": choose_samples(prompts, episode.env, task.kind, goal, samples, asks=asks > 0),
            "skills": skills,
            "observation": episode.first_observation.text,
            "goal": goal,
            "notes": task.notes,
            **told_history(episode),
            **self._language,
        }

    def draft(self) -> str:
        left = limits_left(self._episode, **self._limits)
        if self._language["brief"]:
            left = replace(left, asks=None, tries=None, replans=None)
        messages = render_messages(self._prompts, "adaplanner/plan", **self._values, left=left.lines)
        self._conversation = PlanConversation(messages)
        reply = self._converse("adaplanner/plan", "plan", self._conversation)
        self._reply = add_header(self._sandbox.read_reply(reply))
        return self._reply

    def _converse(self, name: str, purpose: Purpose, conversation: PlanConversation) -> str:
        """The model's reply. One in words alone asks the user, whose answer the conversation then has.

        Raises as ``ask_messages``, and WaitingForAnswer: the user is not there.
        """
        while True:
            reply = ask_messages(self._episode, self._prompts, name, purpose, conversation.messages)
            words = prose_of(reply) if self._questions else ""
            if not words:
                return reply
            self._questions -= 1
            answer = self._episode.ask_user(words)
            talk: list[Message] = [{"role": "assistant", "content": words}, {"role": "user", "content": answer}]
            conversation.add_talk(talk)
            self._talk += talk

    def _converse_anew(self, template: str, purpose: Purpose, **values: Any) -> str:
        """The model's reply to a prompt of its own, followed by the talk with the user so far. As ``_converse``."""
        name = f"adaplanner/{template}"
        messages, talk = render_messages(self._prompts, name, **values), self._talk
        return self._converse(name, purpose, PlanConversation([*messages, *talk]))

    def repair(self, source: str, errors: str, last_run: RunReport | None) -> str:
        self._reply = None
        values = self._language | self._marked(repair_values(last_run)) | {"done": self._done() if last_run else ()}
        return self._sandbox.read_reply(self._converse_anew("check", "check", source=source, errors=errors, **values))

    def adapt(self, source: str, changes: str) -> str:
        """A proven plan, adapted to how its tools have changed."""
        self._reply = None
        values = self._values | {"skills": (), "source": source, "changes": changes}
        return self._sandbox.read_reply(self._converse_anew("adapt", "check", **values))

    def _done(self, above: Collection[str] = ()) -> tuple[str, ...]:
        """The calls that were made so far and are not undone, without the lines that stand above; none in a world that
        can start over.
        """
        episode = self._episode
        if not episode.acts_for_real:
            return ()
        return done_lines(episode.turn_events, blind=words_if_blind(episode), above=above)

    def _marked(self, values: dict[str, object]) -> dict[str, object]:
        """The values with the mark of the tags around what came from tools; without tools, and blind, it is empty."""
        quotes = self._episode.has_tools and not self._is_blind
        return values | {"mark": tag_mark(self._episode.trace.events[0], values.values()) if quotes else ""}

    def refine(self, report: RunReport) -> str:
        reply, self._reply = self._reply, None
        if self._refine_prompt == "fresh-without-plan":
            values = self._values | self._marked(rewrite_values(report))
            text = self._converse_anew("rewrite", "refine", **values, done=self._done())
        elif self._refine_prompt == "fresh" or self._conversation is None:
            values = self._values | self._marked(prompt_values(report, _last_attempts(self._attempts)))
            text = self._converse_anew("refine", "refine", **values, source=report.source, done=self._done())
            self._attempts.append(report.summary)
        else:
            fixes = report.plan.fixes if report.plan else ()
            if reply is None or any(fix.rule == "step-guard" for fix in fixes):  # a repair, or steps were renumbered
                reply = report.source
            text = self._continue(self._conversation, report, reply)
        self._reply = self._sandbox.read_reply(text)
        return self._reply

    def _continue(self, conversation: PlanConversation, report: RunReport, reply: str) -> str:
        """The model's reply to the conversation, after the report on the plan of its last ``reply``."""
        name = "adaplanner/turn"

        def write(dropped: Sequence[str], above: ShownParts) -> ConversationTurn:
            values, shown = turn_values(report, _last_attempts(dropped), above)
            done = self._done(above.done)
            lines = ("# those above, and" if done else "# those above", *done) if above.done else done
            told = {"done": lines, "once": self._episode.once_tools}
            text = render_text(self._prompts, name, **self._marked(values), **told)
            shown = replace(shown, done=frozenset(done))
            return ConversationTurn(reply, report.source, text, report.summary, shown)

        conversation.add(write)
        return self._converse(name, "refine", conversation)

    def resume_step(self, previous: str, revised: str) -> int | None:
        number = re.search(r"\d{1,4}", self._ask("resume", "resume", previous=previous, revised=revised))
        return int(number.group()) if number else None

    def bind(self, block: ParameterBlock) -> str:
        """The model's reply to the question for the values that a plan's parameters have for this task."""
        values = {name: self._values[name] for name in ("observation", "goal")}
        return self._ask(
            "bind", "bind", earlier=block.goal, parameters=block.parameters, acts=self._episode.has_tools, **values
        )

    def answer_question(self, question: str) -> str:
        """The model's answer to a plan's ``ask_llm``."""
        return self._ask("ask", "ask", question=question).strip()

    def _ask(self, template: str, purpose: Purpose, **values: Any) -> str:
        return ask_template(self._episode, self._prompts, f"adaplanner/{template}", purpose, **values)


def _last_attempts(summaries: Sequence[str]) -> tuple[str, ...]:
    """The newest of the attempts, numbered."""
    numbered = [f"{number}. {summary}" for number, summary in enumerate(summaries, 1)]
    return tuple(numbered[-MAX_ATTEMPTS:])


class PlanWriter(Protocol):
    """Writes the plans of one task. Each method returns a plan's source, except ``resume_step``.

    ``repair`` and ``refine`` may return only the steps and the code outside them that change, without a header.
    """

    def draft(self) -> str:
        """The first plan."""
        ...

    def repair(self, source: str, errors: str, last_run: RunReport | None) -> str:
        """The plan without the errors of the check. Without ``errors``, the writer looks for errors itself.

        ``last_run`` is the report on the run before this plan; None for a first plan.
        """
        ...

    def refine(self, report: RunReport) -> str:
        """A better plan, given what happened to the latest one."""
        ...

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The step at which the writer would resume; None if it does not say."""
        ...


class SkillfulPlanWriter(PlanWriter, Protocol):
    """A PlanWriter that can also ask for the values of a plan's parameters, and adapt a plan to changed tools."""

    def bind(self, block: ParameterBlock) -> str:
        """The model's reply to the question for the values of the parameters."""
        ...

    def adapt(self, source: str, changes: str) -> str:
        """The plan, adapted to how its tools have changed."""
        ...


class SkillPlanWriter:
    """A PlanWriter whose first plan is a skill's. After its first failure, ``planner`` takes over.

    ``uses_skill_plan`` is True until then, and ``has_run_it`` says whether there was a plan of it at all. ``bound`` is
    the plan with the task's values, if these are known; otherwise the model gives them, and ``asked_values`` are those.
    ``failure`` says how the skill's plan failed. With ``acts``, calls are real: a plan without parameters, which
    nothing compares with the goal, is not run; and the planner is told what a failed plan has done. ``on_leaving`` is
    called where the planner takes over. If there are ``changes`` of the plan's tools, the first repair adapts it.
    """

    def __init__(
        self,
        planner: SkillfulPlanWriter,
        skill: Skill,
        goal: str,
        *,
        bound: str = "",
        changes: str = "",
        acts: bool = False,
        on_leaving: Callable[[], None] = lambda: None,
    ) -> None:
        self._changes, self._on_leaving = changes, on_leaving
        self._planner, self._skill, self._goal, self._bound, self._acts = planner, skill, goal, bound, acts
        self.uses_skill_plan = True
        self.has_run_it = True
        self.asked_values: dict[str, SkillParameterValue] = {}
        self.failure = ""

    def draft(self) -> str:
        """The skill's plan with the task's values; a new plan if the reply has no valid values."""
        if self._bound:
            return self._bound
        block = read_parameters(self._skill.plan)
        if not block.parameters:
            self.has_run_it = not self._acts
            return self._draft_new_plan() if self._acts else self._skill.plan
        try:
            self.asked_values = parse_values(self._planner.bind(block), block.parameters)
        except BindingError:
            self.has_run_it = False
            return self._draft_new_plan()
        if self._acts and not holds_values(self._skill.plan, self.asked_values):
            self.asked_values, self.has_run_it = {}, False
            return self._draft_new_plan()
        return bind_parameters(self._skill.plan, self._goal, self.asked_values)

    def repair(self, source: str, errors: str, last_run: RunReport | None) -> str:
        """The skill's plan, adapted to changed tools; a new plan if the check refuses it; then the planner's repair."""
        if self.uses_skill_plan and self._changes:
            self.failure = self._changes
            self._leave_skill_plan()
            return self._planner.adapt(source, self._changes)
        return self._draft_new_plan() if self.uses_skill_plan else self._planner.repair(source, errors, last_run)

    def refine(self, report: RunReport) -> str:
        """A new plan if the skill's fails; then, or if calls are real, the planner's refinement."""
        self.failure = self.failure or report.summary
        if self.uses_skill_plan and not self._acts:
            return self._draft_new_plan()
        self._leave_skill_plan()
        return self._planner.refine(report)

    def resume_step(self, previous: str, revised: str) -> int | None:
        """The planner's answer."""
        return self._planner.resume_step(previous, revised)

    def _leave_skill_plan(self) -> None:
        self.uses_skill_plan = False
        self._on_leaving()

    def _draft_new_plan(self) -> str:
        self._leave_skill_plan()
        return self._planner.draft()


MAX_HISTORY_CHARS: Final = 4_000
"""Maximum length of the turns that a prompt shows with their calls, in characters; the latest may be longer."""

MAX_BRIEF_CHARS: Final = 1_000
"""Maximum length of the lines for older turns, in characters."""

MAX_VARIABLES_CHARS: Final = 2_500
"""Maximum length of the variables that earlier turns left, in characters."""

_MAX_MESSAGE: Final = 2_000  # characters of a message
_MAX_CALLS: Final = 30  # calls of a turn
_MAX_LINE: Final = 90  # characters of an older turn's message
_MAX_VARIABLES: Final = 200  # of earlier turns that are considered
_MAX_STRING: Final = 200  # characters of a text within a variable

_Text = Callable[[Any], str]


def told_history(episode: Episode) -> dict[str, object]:
    """The values of a prompt that tell of the turns before this one; empty where there are none.

    Where flows decide about calls, or prompts are blind, it has shapes in place of data: nobody who wrote a part of
    what tools answered has written to the planner before the plan of this turn.
    """
    history = episode.history
    blind = words_of(episode) if episode.is_blind or episode.has_flows else None
    turns, names = _told_turns(history.turns, blind)
    newest = [*history.variables.items()][: -_MAX_VARIABLES - 1 : -1]
    newest_first = {name: value for name, value in newest if name not in names}
    left = _told_variables(newest_first, blind, _shown_answers(history.turns, len(names)))
    mark = tag_mark(episode.trace.events[0], (*turns, *left)) if turns or left else ""
    told = {"turns": turns, "left_variables": left, "history_mark": mark, "recalls": history.is_long}
    return {**told, "new_tools": episode.new_tools[:_MAX_CALLS]}


def _shown_answers(turns: tuple[PastTurn, ...], count: int) -> dict[str, int]:
    """The texts of answers that the latest turns show, with the numbers of their calls."""
    made = [call for turn in turns[len(turns) - count :] for call in turn.calls[-_MAX_CALLS:] if not call.answer.error]
    return {value_text(unpacked(call.answer.value), MAX_SHOWN_VALUE): call.event.id for call in made}


def _told_turns(turns: tuple[PastTurn, ...], blind: Collection[str] | None) -> tuple[tuple[str, ...], set[str]]:
    """The turns as text, oldest first: the latest with their calls, older ones in a line, the rest counted.

    Also the names of the variables that stand in the text.
    """
    whole: list[str] = []
    brief: list[str] = []
    room, brief_room = MAX_HISTORY_CHARS, MAX_BRIEF_CHARS
    for turn in reversed(turns):
        if not brief and len(whole) < MAX_SHOWN_TURNS:
            text = _turn_text(turn, blind)
            room -= len(text)
            if room >= 0 or not whole:
                whole.append(text)
                continue
        line = f"{turn.number}. User: {one_line(turn.message, _MAX_LINE)}"
        brief_room -= len(line)
        if brief_room < 0:
            brief.append(f"({with_count(turn.number, 'earlier turn')}: agent.recall(words))")
            break
        brief.append(line)
    told = {f"returned_{turn.number}" for turn in turns[len(turns) - len(whole) :]}
    return (*reversed(brief), *reversed(whole)), told


def _turn_text(turn: PastTurn, blind: Collection[str] | None) -> str:
    lines = [f"{turn.number}. User: {excerpt(turn.message, _MAX_MESSAGE)}"]
    lines += [_call_line(made, blind) for made in turn.calls[-_MAX_CALLS:]]
    if len(turn.calls) > _MAX_CALLS:
        lines.insert(1, f"   ({with_count(len(turn.calls) - _MAX_CALLS, 'earlier call')})")
    for call in turn.in_doubt:
        said = shown_call(call) if blind is None else call_shape(call, blind)
        lines.append(f"   {said}: in doubt, nobody knows whether it was done")
    shown = _shown_answers((turn,), 1) if blind is None else {}
    return "\n".join([*lines, _ending_line(turn, blind, shown)])


def _call_line(made: AnsweredCall, blind: Collection[str] | None) -> str:
    if made.call.name == ASK_USER.name and not made.answer.error:
        asked = unpacked((made.call.arguments or {}).get("question"))
        return f"   you asked: {one_line(str(asked), MAX_SHOWN_VALUE)} -> {unpacked(made.answer.value)}"
    if blind is not None:
        return f"   {made.event.id}. {call_shape(made.call, blind)} -> {answer_shape(made.answer, blind)}"
    answer = made.answer
    told = (
        f"raised {answer.error}: {one_line(answer.message, MAX_SHOWN_VALUE)}"
        if answer.error
        else value_text(unpacked(answer.value), MAX_SHOWN_VALUE)
    )
    return f"   {made.event.id}. {shown_call(made.call)} -> {told}"


def _ending_line(turn: PastTurn, blind: Collection[str] | None, shown: Mapping[str, int]) -> str:
    """How the turn ended; a value that a call above has given is named."""
    result = turn.result
    text: _Text = partial(value_text, max_characters=2 * MAX_SHOWN_VALUE)
    if (answer := shown.get(value_text(result.value, MAX_SHOWN_VALUE))) is not None:
        return f"   returned_{turn.number} = <answer {answer}>"
    if blind is not None:
        text = partial(shape_text, words=blind)
    if isinstance(result.ending, Claimed | Success):
        return f"   returned_{turn.number} = {text(result.value)}" if result.value is not None else "   done"
    said = one_line(result.reason, MAX_SHOWN_VALUE) if blind is None else type(result.ending).__name__
    return f"   ended without success: {said}"


def _told_variables(
    variables: Mapping[str, Any], blind: Collection[str] | None, answers: Mapping[str, int]
) -> tuple[str, ...]:
    """The variables as lines ``name = value``, newest first; then the names of those that are not shown.

    ``answers`` are texts that stand in the prompt already, with the numbers of their calls.
    """
    if blind is not None:
        shapes = [f"{clip_name(name)}: {shape_text(value, blind)}" for name, value in variables.items()]
        return tuple(_within(shapes, MAX_VARIABLES_CHARS))
    alone = {name: answers.get(value_text(value, MAX_SHOWN_VALUE)) for name, value in variables.items()}
    same = [f"{clip_name(name)} = <answer {number}>" for name, number in alone.items() if number is not None]
    same = _within(same, MAX_VARIABLES_CHARS // 2)
    variables = {name: value for name, value in variables.items() if alone[name] is None}
    shown = variable_texts(
        variables, MAX_VARIABLES_CHARS, max_each=MAX_SHOWN_VALUE, max_string=_MAX_STRING, counts=True
    )
    lines = [*same, *(f"{clip_name(name)} = {text}" for name, text in shown.texts.items())]
    if shown.unshown:
        more = f" and {shown.unnamed:,} more" if shown.unnamed else ""
        lines.append(f"# there, but not shown: {', '.join(shown.unshown)}{more}")
    return tuple(lines)


def _within(lines: list[str], room: int) -> list[str]:
    kept = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
