"""Who may do what: access rules in the tree, decisions by them, and the record of decisions."""
