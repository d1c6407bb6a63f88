"""Names of months, as folded words, in seven languages: the data of `dates`."""

from __future__ import annotations

__all__ = ["MONTHS", "STEMS"]

_NAMES = """
    january february march april may june july august september october november december
    jan feb mar apr may jun jul aug sep oct nov dec
    januar februar märz april mai juni juli august september oktober november dezember
    jän feb mär apr mai jun jul aug sept okt nov dez
    jänner feber mrz apr mai juni juli aug sep okt nov dez
    janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    janv févr mar avr mai juin juil août sept oct nov déc
    jan fevrier mars avr mai juin juil aout sep oct nov decembre
    jan fév mars avr mai juin juill aou sep oct nov déc
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    ene febr mzo abr may jun jul ago setiembre oct nov dic
    gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
    gen febb mar apr mag giu lug ago set ott nov dic
    janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
    jan fev marco abr mai jun jul ago set out nov dez
    januari februari maart april mei juni juli augustus september oktober november december
    jan feb mrt apr mei jun jul aug sep okt nov dec
"""

MONTHS: dict[str, int] = {
    name: number for line in _NAMES.strip().splitlines() for number, name in enumerate(line.split(), start=1)
}
"""From a folded name or abbreviation to the number of the month."""

STEMS = frozenset(name[:3] for name in MONTHS)
"""The first three letters of all of them."""
