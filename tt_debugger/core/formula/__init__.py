"""Formulas: an expression of JMESPath as a tree, read, looked through and evaluated."""
