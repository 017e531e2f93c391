"""One episode, shown as it happens or as recorded: ``run``, ``do``, ``resume``, ``replay``, ``show`` and ``fork``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from codeplan.cli import commands, curation, options, questions
from codeplan.cli.commands import add_command, given_limits
from codeplan.cli.options import OutputOptions, TapeOptions, TaskOptions, ToolOptions
from codeplan.cli.output import (
    end_episode,
    make_console,
    playing,
    print_json,
    print_json_list,
    print_output,
    show_value,
    without_line,
)
from codeplan.untrusted.texts import echo, echo_message, on_terminal, shell_word, with_count

if TYPE_CHECKING:
    from codeplan.recording.events import Event
    from codeplan.report.event_view import EventRow
    from codeplan.types import Result

Method = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How to solve it; 'codeplan methods' lists them.",
        autocompletion=options.complete("codeplan.methods"),
    ),
]
_RUN_SETTINGS = (*commands.MODEL_SETTINGS, *commands.ROUTE_SETTINGS, "temperature", "tries", *commands.METHOD_SETTINGS)


def add_to(app: typer.Typer) -> None:
    """Add this module's commands."""
    add_command(app, "run", run, "codeplan run household --kind clean --seed 3", *_RUN_SETTINGS, budget=True)
    example = "codeplan do 'Which file is the largest?' --tools tools.py --model gpt-5"
    add_command(app, "do", do, example, *commands.DO_SETTINGS, budget=True)
    add_command(
        app, "resume", resume, "codeplan resume runs/20260101-120000-household", "base_url", "imports", budget=True
    )
    add_command(
        app,
        "approve",
        approve,
        "codeplan approve runs/20260101-120000-do --no 'not before Monday'",
        "base_url",
        "imports",
        budget=True,
    )
    add_command(app, "replay", replay, "codeplan replay runs/20260101-120000-household")
    add_command(app, "show", show, "codeplan show runs/20260101-120000-household --only failures")
    add_command(
        app, "fork", fork, "codeplan fork runs/one --at 17 --plan better.py", "base_url", "imports", budget=True
    )


@dataclass(frozen=True)
class SkillOptions:
    """The skills that an episode uses, and whether it runs or adds one."""

    library: Annotated[
        str | None, typer.Option(metavar="DIR", help="A skill library: its skills are shown to a method that plans.")
    ] = None
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Run the plan of the skill that fits best first, and plan only if it fails.")
    ] = False
    acquire: Annotated[bool, typer.Option("--acquire", help="Make a success a candidate skill of the library.")] = False

    def arguments(self, method: str) -> dict[str, Any]:
        """The settings of the method. Raises: UsageError: it has no such settings, or there is no library to reuse."""
        from codeplan.errors import UsageError
        from codeplan.runner.setup import accepted_settings

        if self.reuse and self.library is None:
            raise UsageError("--reuse runs the plan of a skill; name its library with --library DIR")
        if self.reuse and "reuse" not in accepted_settings({"method": method})["method"]:
            raise UsageError(f"the method {method} runs no skills' plans; leave --reuse out, or --method")
        given = {"library": self.library} if self.library is not None else {}
        return given | ({"reuse": True} if self.reuse else {})


def run(
    context: typer.Context,
    env: options.Env,
    *,
    what: TaskOptions,
    method: Method = "adaplanner",
    model: options.OwnModel = None,
    allow_weak_sandbox: options.AllowWeak = False,
    skills: SkillOptions,
    more: options.Set = None,
    out: options.Out = None,
    tapes: TapeOptions,
    output: OutputOptions,
) -> None:
    """Run one episode: plan, execute, refine, resume.

    With --acquire, the plan that succeeded is generalised and runs again, to become a skill (as codeplan skills add).

    Exit codes: 0 success, 1 not solved, 2 usage, 3 budget spent, 4 infrastructure, 130 interrupted; they speak of the
    episode, whatever becomes of the skill.
    """
    from codeplan.recording.trace import KeepAndTell
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.episodes import run as run_episode

    given = options.command_run(context)
    given |= skills.arguments(method)
    target = curation.open_target(method, given) if skills.acquire else None
    name = (env, what.task) if what.task else (env, what.kind, what.seed)
    given |= {"env": env, "task": what.task, "kind": what.kind, "seed": what.seed, "split": what.split}
    given["method"] = method
    files = options.named_files(context)
    with options.run_folder(out, *name) as folder, tapes.open() as tape:
        arguments = {**tape, **given}
        events: list[Event] = []
        show = output.event_handler()
        with playing(f"run: codeplan resume {shell_word(folder)}{files}", as_json=output.as_json):
            result = run_episode(out=folder, on_event=KeepAndTell(events.append, show) if target else show, **arguments)
        acquired: dict[str, Any] = {}
        if target:
            kept = folder if result.trace else None  # an episode from a tape has no folder
            acquired = curation.acquire_from_result(result, events, target, kept, arguments, quiet=output.as_json)
    end_episode(result, {**result_as_json(result), **acquired} if output.as_json else None, files=files)


@dataclass(frozen=True)
class PromptOptions:
    """What plans and their prompts get beside goal and tools."""

    feedback: Annotated[
        Literal["quoted", "blind"],
        typer.Option(help="What revisions see of tools' answers: all of it, quoted, or shapes alone."),
    ] = "quoted"
    instructions: options.Instructions = None
    variables: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Values that plans may read by name: a JSON object of them."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``codeplan.do``."""
        from codeplan.runner.start_state import variables_of_file
        from codeplan.runner.tools import read_instructions

        given: dict[str, Any] = {"feedback": self.feedback}
        given |= {"instructions": read_instructions(self.instructions)} if self.instructions else {}
        return given | ({"variables": variables_of_file(self.variables)} if self.variables else {})


def do(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be done, in a sentence.")],
    *,
    sources: ToolOptions,
    method: Method = "adaplanner",
    model: options.LiveModel = None,
    prompting: PromptOptions,
    allow_weak_sandbox: options.AllowWeak = False,
    skills: SkillOptions,
    more: options.Set = None,
    out: options.Out = None,
    output: OutputOptions,
) -> None:
    """Reach a goal with your own tools and MCP servers: a model writes plans that call them, in the sandbox.

    With another --method (react, adapt …) the model makes one call at a time instead.

    Calls of an MCP server's tools need approval unless --allow names them. You are asked on a terminal; elsewhere the
    episode ends there and waits for codeplan approve. What a plan asks you is asked so, too, or waits for codeplan
    resume --answer.

    Without --verify the result is not verified: the episode ends as claimed at best, with exit code 1.

    With --library, plans may use its skills, as far as they need no other tools. With --reuse, a goal that an active
    skill knows runs its plan with the goal's values, without a model call; one call asks where that is not sure. With
    --acquire, a success becomes a candidate of the library (as codeplan skills add): the plan runs again on the
    recorded answers, no tool is called, and one model call asks how else people state the goal.

    Exit codes: 0 verified, 1 not solved or only claimed, 2 usage, 3 budget spent, 4 infrastructure, 5 waiting for an
    approval or an answer, 130 interrupted.
    """
    from codeplan.report.json_output import result_as_json
    from codeplan.runner.tools import do as do_with_tools
    from codeplan.runner.tools import with_plain_value

    given = options.command_run(context)
    sources.require_tools()
    prompts = prompting.arguments()
    given |= skills.arguments(method)
    target = curation.open_target(method, given) if skills.acquire else None
    files = options.named_files(context)
    with options.run_folder(out, "do", goal) as folder:
        again = f"run: codeplan resume {shell_word(folder)}{files}; name the tools again, as for this command"
        arguments = {**sources.arguments(), **given, **prompts, "method": method}
        show = output.event_handler()
        with playing(again, as_json=output.as_json):
            result = with_plain_value(do_with_tools(goal, out=folder, on_event=show, **arguments))
        acquired = curation.acquire_from_tools(folder, target, given, quiet=output.as_json) if target else {}
    if not output.as_json:
        show_value(result)
    document = {**result_as_json(result), **acquired} if output.as_json else None
    end_episode(result, document, unverified=sources.verify is None, files=files)


Idempotent = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help="Tools that may be called twice, unasked; repeatable.")
]


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """How an episode that goes on runs and is shown."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="A model to go on with. [the recorded one; FILE.py:FUNCTION if it is a function of yours]",
            callback=options.model_or_name,
        ),
    ] = None
    allow_weak_sandbox: options.AllowWeak = False
    more: options.Set = None
    output: OutputOptions

    def arguments(self, context: typer.Context) -> dict[str, Any]:
        """The arguments of the run, with the user's configuration of models and of a budget."""
        given = options.command_settings(context)
        config = options.load_config()
        own = {"model_overrides": config.settings, "budget": options.make_budget(config, **given_limits(context))}
        return {"on_event": self.output.event_handler(), "model": self.model, **own, **given}

    def end(self, result: Result, files: str) -> NoReturn:
        """Print the result as JSON if asked for, and exit with the episode's code."""
        from codeplan.report.json_output import result_as_json

        end_episode(result, result_as_json(result) if self.output.as_json else None, files=files)


@dataclass(frozen=True)
class DoubtOptions:
    """What becomes of a call that may have been done or not."""

    in_doubt: Annotated[
        options.WayOn | None,
        typer.Option(
            help="A call of a tool that may have been done or not: make it again, give the plan an error, or stop."
        ),
    ] = None
    idempotent: Idempotent = None

    def arguments(self) -> dict[str, Any]:
        """The arguments of ``codeplan.resume``. On a terminal, the user is asked."""
        undecided = questions.ask_about_doubt if on_terminal() else "stop"
        return {"in_doubt": self.in_doubt or undecided, "idempotent": self.idempotent or ()}


def resume(
    context: typer.Context,
    folder: options.Run,
    *,
    sources: ToolOptions,
    doubts: DoubtOptions,
    tries: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Further runs of a plan for an episode that ended without success."),
    ] = None,
    answer: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Your answer to what the episode asks you.")
    ] = None,
    live: LiveOptions,
    env: options.OwnEnv = None,
) -> None:
    """Finish an episode that was killed or interrupted, that waits for an approval, or ended for want of something.

    Recorded replies are not requested again. The environment is brought back to its recorded state, and the episode
    continues. Model, budget, method and harmless settings are as recorded. The endpoint's address and key, paths,
    programs and the sandbox's limits are read anew, as for run; OpenAI's own address must be given, too. Your own
    budget must allow the recorded one.

    An episode whose budget was spent goes on with a higher limit (--max-actions 20); one without success with --tries.

    An episode of codeplan do needs its tools, its verifier and its patterns again. Calls that were answered are not
    made again. If it was ended during a call, --in-doubt decides; without it you are asked on a terminal.

    Exit codes as for do; 1 also if the environment or the method diverges from the recording, and 2 if a call is in
    doubt.
    """
    more = {"tries": tries, "answer": answer}
    _go_on(context, folder, sources, doubts, live, {name: given for name, given in more.items() if given is not None})


def _go_on(
    context: typer.Context,
    folder: Path,
    sources: ToolOptions,
    doubts: DoubtOptions,
    live: LiveOptions,
    more: dict[str, Any] | None = None,
) -> NoReturn:
    """Continue an episode, show it, and exit with its code."""
    from codeplan.recording.trace import Trace
    from codeplan.runner.episodes import find_trace
    from codeplan.runner.recorded_episodes import resume as resume_episode
    from codeplan.runner.tools import with_plain_value

    given = live.arguments(context)
    watch = _ResumedEvents(given.pop("on_event"), quiet=live.output.as_json or live.output.quiet)
    given |= sources.arguments() | doubts.arguments() | (more or {})
    files = options.named_files(context)
    again = f"{files}; name the tools again, as for this command" if sources.name_tools else files
    with playing(f"run: codeplan resume {shell_word(folder)}{again}", as_json=live.output.as_json):
        watch.recorded = len(Trace.read_resumable(find_trace(folder)))
        result = with_plain_value(resume_episode(folder, on_event=watch, **given))
    if not watch.runs:
        confirmed = " but your verifier, which confirms it" if given["verify"] and result.success else ""
        ended = f"the episode has ended before; this is its result, and nothing ran{confirmed}"
        echo_message(ended, "codeplan: ", err=True)
    if not live.output.as_json:
        show_value(result)
    live.end(result, files)


def approve(
    context: typer.Context,
    folder: options.Run,
    reason: Annotated[
        str | None, typer.Argument(metavar="REASON", help="With --no: why not. Plan and model read it.")
    ] = None,
    *,
    no: Annotated[bool, typer.Option("--no", help="Do not allow the call; the plan gets a PermissionError.")] = False,
    sources: ToolOptions,
    doubts: DoubtOptions,
    live: LiveOptions,
) -> None:
    """Answer the call for which an episode waits: it may be made, or with --no it may not.

    Given tools, verifier, patterns and model, as for resume, the episode then goes on at that call. Without tools, the
    command that goes on is printed. Of several answers the first counts.

    Exit codes: 0 answered; 2 usage, also if the episode does not wait, or the call was answered before; with tools, as
    for resume.
    """
    from codeplan.errors import UsageError
    from codeplan.runner.approval_answers import approve as answer
    from codeplan.untrusted.values import shown_call

    if reason is not None and not no:
        raise UsageError("a reason says why a call is not allowed; it goes with --no")
    answered = answer(folder, not no, reason or "")
    echo_message(f"{'allowed' if answered.allowed else 'not allowed'}: {shown_call(answered.call)}", err=True)
    if sources.name_tools:
        _go_on(context, folder, sources, doubts, live)
    again = f"codeplan resume {shell_word(folder)}, with tools, verifier and model named as before"
    echo_message(f"to go on, run: {again}; the client of an MCP server sends resume_plan", err=True)


class _ResumedEvents:
    """Shows the events of an episode that goes on, and says where the ``recorded`` ones end.

    ``runs`` is whether it goes on at all: one that had ended has no events.
    """

    def __init__(self, show: Callable[[Event], None], *, quiet: bool) -> None:
        self.recorded, self.runs = 0, False
        self._show, self._quiet, self._shown = show, quiet, 0

    @property
    def hears_replies(self) -> bool:
        from codeplan.recording.trace import hears_replies

        return hears_replies(self._show)

    def __call__(self, event: Event) -> None:
        from codeplan.recording.events import EpisodeStarted, ReplyWritten

        if isinstance(event, ReplyWritten):
            self._show(event)
            return
        self.runs = self.runs or isinstance(event, EpisodeStarted)
        if self.runs and self._shown == self.recorded and not self._quiet:
            with without_line():
                echo_message(f"the trace held {with_count(self.recorded, 'event')}; what follows is new", err=True)
        self._shown += 1
        self._show(event)


def replay(
    folder: options.Run,
    env: options.OwnEnv = None,
    allow_weak_sandbox: options.AllowWeak = False,
    more: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Repeat an episode offline and report whether it is identical.

    The trace answers for the environment and the model. The first difference is shown.

    Exit codes: 0 identical, 1 different, 2 usage.
    """
    from codeplan.runner.recorded_episodes import replay as replay_episode

    count = 0

    def on_event(event: object) -> None:
        nonlocal count
        count += 1

    given = options.collect_settings(more, allow_weak_sandbox=allow_weak_sandbox)
    replay_episode(folder, on_event=on_event, **given)
    print_output({"identical": True, "events": count}, as_json, lambda: [f"identical: {with_count(count, 'event')}"])


def fork(
    context: typer.Context,
    folder: options.Run,
    at: Annotated[int, typer.Option(metavar="EVENT", help="The number (seq) of the first event that may differ.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The new episode's folder. [one in runs/]")
    ] = None,
    *,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="FILE", help="The plan to use there instead of the model's.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The answer to use there instead of the model's.")
    ] = None,
    sources: ToolOptions,
    idempotent: Idempotent = None,
    live: LiveOptions,
    env: options.OwnEnv = None,
) -> None:
    """Branch off from an episode at an event, into a new episode.

    Everything before the event stays as recorded. Then the episode is live, with another plan or answer if given.
    Settings as for resume.

    An episode of codeplan do needs its tools, its verifier and its patterns again. Calls that it made after the event
    are done, and not made again: an equal call gets the recorded answer, unless --idempotent names its tool.

    Exit codes as for run.
    """
    from codeplan.cli.plans import read_plan
    from codeplan.runner.episodes import find_trace
    from codeplan.runner.recorded_episodes import fork as fork_episode
    from codeplan.runner.tools import with_plain_value

    source = read_plan(plan) if plan else None
    arguments = live.arguments(context)
    if sources.name_tools or sources.verify:
        arguments |= sources.arguments() | {"idempotent": idempotent or ()}
    origin = find_trace(folder).parent.resolve().name
    new, files = options.run_folder(out, "fork", origin, at), options.named_files(context)
    with new as branch, playing(f"run: codeplan resume {shell_word(branch)}{files}", as_json=live.output.as_json):
        result = with_plain_value(fork_episode(folder, at, branch, plan=source, answer=answer, **arguments))
    if not live.output.as_json:
        show_value(result)
    live.end(result, files)


def show(
    folder: options.Run,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="PART", help="plans, actions, model, failures or other; repeatable."),
    ] = None,
    event: Annotated[int | None, typer.Option("--event", metavar="N", help="Show this event in full.", min=0)] = None,
    as_json: options.Json = False,
) -> None:
    """Show a recorded episode as a numbered list of its events.

    The numbers are those that codeplan fork --at takes. An event without a line, such as the printed title of a step,
    says nothing more than the line before it.
    """
    from codeplan.errors import UsageError
    from codeplan.recording.trace import Trace
    from codeplan.report.event_view import PARTS, event_rows
    from codeplan.runner.episodes import find_trace
    from codeplan.untrusted.values import in_quotes

    unknown = next((part for part in only or () if part not in PARTS), None)
    if unknown is not None:
        raise UsageError(f"--only takes {', '.join(PARTS[:-1])} or {PARTS[-1]}, not '{unknown}'")
    recorded = Trace.read(find_trace(folder))
    if not recorded:
        raise UsageError(f"the trace in {in_quotes(str(folder), 400)} holds no event")
    if event is not None:
        _show_event(recorded, event, as_json)
        return
    rows = (row for row in event_rows(recorded) if row.part in (only or PARTS))
    if as_json:
        print_json_list(rows)
    else:
        _print_rows(rows, len(str(len(recorded))), folder)


def _print_rows(rows: Iterable[EventRow], width: int, run: Path) -> None:
    """Print a line for each event; a terminal cuts it at its edge, and a last line says how to see it all."""
    from rich.text import Text

    console, is_cut = make_console(), False
    for row in rows:
        line = Text.assemble((f"{row.number:{width}}  ", "dim"), (row.text, "red" if row.part == "failures" else ""))
        if console.is_terminal:
            is_cut = is_cut or line.cell_len > console.width
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, soft_wrap=True)
    if is_cut:
        echo_message(f"in full: codeplan show {shell_word(run)} --event N", err=True)


def _show_event(recorded: Sequence[Event], number: int, as_json: bool) -> None:
    """Print an event as a live display shows it; a call of a model with its messages and its reply.

    A call of a plan and its answer are shown together.
    """
    from codeplan.errors import UsageError
    from codeplan.recording.event_log import events_of
    from codeplan.recording.events import CallAnswered, CallBegun, ModelCalled
    from codeplan.report.event_view import event_rows
    from codeplan.report.live import LiveDisplay

    if number >= len(recorded):
        raise UsageError(f"there is no event {number}; the events are 0 to {len(recorded) - 1}")
    event = recorded[number]
    if as_json:
        print_json(event)
        return
    if isinstance(event, ModelCalled):
        for message in event.messages:
            echo(f"{message['role']}:\n{message['content']}\n")
        if event.completion.reasoning:
            echo(f"reasoning:\n{event.completion.reasoning}\n")
        echo(f"reply:\n{event.completion.text}")
        return
    display = LiveDisplay(make_console(), plan_before=_plan_before(recorded[:number]))
    if not isinstance(event, CallBegun | CallAnswered):
        display(event)
        return
    of_call = [e for e in events_of(recorded, CallBegun, CallAnswered) if e.id == event.id]
    for part in of_call:
        display(part)
    if not isinstance(of_call[-1], CallAnswered):  # a display waits for the answer
        echo("\n".join(row.text for row in event_rows(of_call)))


def _plan_before(earlier: Sequence[Event]) -> str | None:
    """The source of the plan that was there before an event; None if there was none."""
    from codeplan.recording.event_log import latest_of
    from codeplan.recording.events import PlanDrafted, PlanFixed

    plan = latest_of(earlier, PlanDrafted, PlanFixed)
    return plan.source if plan else None
