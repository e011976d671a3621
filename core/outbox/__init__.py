"""Messages owed to addresses outside: written with the change that they tell of, sent afterwards."""
