"""Other frameworks: ADK, Anthropic, LangChain, LangGraph, OpenAI Agents, pydantic-ai."""
