"""The cage as a tool, or as the executor, of other agent frameworks; each module needs the extra of its name.

    from codeplan.integrations.smolagents import CagedExecutor      # CodeAgent(executor=CagedExecutor(), …)
    from codeplan.integrations.pydantic_ai import python_tool       # Agent(tools=[python_tool([search])])
    from codeplan.integrations.langchain import python_tool
    from codeplan.integrations.openai_agents import python_tool

The code that a model writes goes through ``codeplan.execute``: it is checked, runs in the cage, and reaches nothing but
the functions that it was given.
"""
