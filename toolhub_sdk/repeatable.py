"""The hash order and time zone of tools that promise to repeat themselves: the same in every process."""

SEEDS = (0, 1, 2)
"""A self-test calls such a tool in a fresh process for each of these seeds of the hash order."""
ADVICE = "Sort what comes from a set, and take time and chance from the context."


def repeatable_variables(determinism: str, seed: int = 0) -> dict[str, str]:
    """The variables for a deterministic or bounded tool; none for others.

    Python and Perl choose the order of sets and hashes by chance unless these name a seed. Calls have the
    seed 0. The self-test also tries others, because another version of the language has another order, too.
    Node keeps the order of insertion. With UTC, local times do not depend on the machine.
    """
    if determinism == "non_deterministic":
        return {}
    return {
        "PYTHONHASHSEED": str(seed),
        "PERL_HASH_SEED": str(seed),
        "PERL_PERTURB_KEYS": "0",
        "TZ": "UTC",
    }
