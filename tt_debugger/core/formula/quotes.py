"""Quotes of JMESPath: in them no character has a meaning of its own."""

QUOTED = r"""'(?:[^'\\]|\\.?)*(?:'|\Z)|"(?:[^"\\]|\\.?)*(?:"|\Z)|`(?:[^`\\]|\\.?)*(?:`|\Z)"""
"""The pattern of what stands in quotes of any kind, or behind one that is never closed.

It is to be used with `re.DOTALL`.
"""
