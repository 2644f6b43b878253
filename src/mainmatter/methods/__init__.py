"""The methods, one file each; registry.py is the table of them, contract.py says what a method is."""
