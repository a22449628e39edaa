"""Routing of LLM requests to decode workers: exact models, fast rules, and the gap between them."""
