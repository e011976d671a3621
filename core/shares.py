"""Fair shares of a bounded resource that several parties use."""


def share_of(most: int, used: int, least: int) -> int:
    """Return how much one party may hold: as much as is still free, but at least `least`.

    `most` is the bound and `used` the amount that all parties hold now. One party alone gets half of the
    bound, two get a third each: whoever comes next always finds room. Source: dynamic thresholds,
    Choudhury and Hahne, IEEE/ACM Transactions on Networking 6 (2), 1998, with alpha 1.
    """
    return max(min(least, most), most - used)
