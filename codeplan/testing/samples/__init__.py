"""Sample plans and small worlds in which they run, for the contract suite of backends."""
