"""What tests build tables, answers and runs with. Tests import it, and it imports no test."""
