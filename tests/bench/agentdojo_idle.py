"""A model for benches of AgentDojo: it plans to do nothing."""


def idle(messages: list[dict[str, str]]) -> str:
    """A plan that calls no tool."""
    return "```python\ndef solution(agent, start_from=1):\n    return 'nothing'\n```"
