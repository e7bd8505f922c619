"""Inputs on which relevance vector machines and their neighbours have failed, by kind of fault."""
