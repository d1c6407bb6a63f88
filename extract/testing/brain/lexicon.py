"""Words of documents in English, German, French and Spanish, brought to one word each.

Data alone. A word that is not here stands for itself, so labels in any language match fields that name
or describe themselves with the same words.
"""

from __future__ import annotations

NUMBER, DATE, INVOICE, CREDIT, TOTAL = "number", "date", "invoice", "creditnote", "total"

# one line a meaning; the words are without accents and in lower case, ß is ss
_MEANINGS = """
number: number numero nummer nr num no n° ref
date: date datum fecha dated
invoice: invoice rechnung rechnungs facture factura fra bill-of-sale
creditnote: gutschrift avoir abono rectificativa creditnote
issue: issue issued emission emis emise emitida emision ausgestellt ausstellung
due: due fallig falligkeit falligkeits echeance vencimiento vence maturity
supplier: supplier vendor seller issuer lieferant lieferanten anbieter verkaufer
supplier: fournisseur vendeur proveedor emisor
customer: customer client kunde kunden cliente buyer kaufer acheteur comprador besteller auftraggeber
name: name nom nombre bezeichner
currency: currency wahrung devise moneda divisa
total: total gesamt gesamtsumme insgesamt totale sum summe somme suma
amount: amount betrag montant importe monto
net: net netto ht imponible
gross: gross brutto ttc
subtotal: subtotal zwischensumme zwischen-summe soustotal
tax: tax vat mwst ust tva iva steuer mehrwertsteuer umsatzsteuer impuesto taxe gst usst
payable: payable zahlbar payer pagar zahlen zahlbetrag zahlungsbetrag owing
quantity: quantity qty menge quantite cantidad anzahl qte cant stuckzahl
unit: unit unitaire unitario einzel stuck einheit
price: price preis prix precio
description: description bezeichnung designation descripcion beschreibung concepto libelle leistung
item: item article artikel articulo produit product produkt producto
position: position pos posten posicion
order: order bestellung bestell commande pedido auftrag auftrags po
delivery: delivery liefer lieferung livraison entrega
payment: payment zahlung zahlungs paiement pago
address: address adresse direccion anschrift
email: email mail e-mail courriel correo
phone: phone telephone tel telefon telefono fon
category: category kategorie categorie categoria
status: status etat estado zustand
rate: rate satz taux tipo tarif
hours: hours hrs stunden heures horas
country: country land pays pais
city: city stadt ort ville ciudad
title: title titel titre titulo
subject: subject betreff objet asunto
comment: comment comments kommentar commentaire comentario note notes bemerkung remarque
rating: rating stars sterne bewertung etoiles estrellas puntuacion score
priority: priority prioritat priorite prioridad
line: line zeile ligne linea
service: service dienst servicio
period: period zeitraum periode periodo
start: start beginn anfang debut inicio
end: end ende fin
id: id idnr identifier kennung identifiant identificador
"""

WORDS: dict[str, str] = {
    word: meaning
    for meaning, _, words in (line.partition(":") for line in _MEANINGS.strip().splitlines())
    for word in words.split()
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _words(
    "a an the of for to in on at by is as and or our your this that its their with from "
    "der die das des dem den ein eine einer von vom zu zum zur im am und oder fur ihr ihre ihren ihrer mit "
    "le la les l un une de du d et ou pour sur au aux votre notre "
    "el los las lo del al y o u por para su sus en con"
)

# words that tell no two texts apart, whatever they are about
COMMON = STOP | _words(
    "not no yes do does did done have has had be been being are was were will would can could should may "
    "it he she they we you i me my him her them us what which who how when where why there here than then "
    "so if but also only just very more most much many some any all both each other another such same too "
    "out up off over under about after before again because while without between something anything "
    "nicht kein keine ist sind war haben hat wird wurde werden kann es sie wir ich mein was wer wie wo wenn "
    "so aber auch nur sehr mehr alle noch schon bei aus nach auf "
    "ne pas est sont etait avoir fait il elle ils nous vous je mon ma mes que qui quoi comment plus tres "
    "no es son era hay tiene han se me mi mis que quien como mas muy todo pero si ya"
)

# labels made of stop words alone that say something all the same
_BARE = {"from": "supplier", "von": "supplier", "to": "customer", "an": "customer", "a": "customer"}
BARE_LABELS = {word: meaning for word, meaning in _BARE.items() if word != "a"}


def _sets(*phrases: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(phrase.split()) for phrase in phrases)


# A kind is what a field of a business document can be. The first row of a kind are its proper labels; a
# label of the second counts only where no label of the first is there.
KINDS: dict[str, tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]] = {
    "invoice number": (
        _sets("invoice number", "creditnote number", "invoice id"),
        _sets("invoice", "number", "creditnote", "document number", "receipt number"),
    ),
    "invoice date": (
        _sets("invoice date", "issue date", "creditnote date", "issue", "invoice issue"),
        _sets("date", "document date"),
    ),
    "due date": (_sets("due date", "due", "payment due", "payment due date"), _sets("payable until")),
    "supplier": (_sets("supplier", "supplier name"), ()),
    "customer": (_sets("customer", "customer name", "bill", "billed", "invoice recipient"), ()),
    "order number": (_sets("order number", "order", "order id", "customer order", "order ref"), ()),
    "currency": (_sets("currency", "invoice currency", "currency code"), ()),
    "subtotal": (
        _sets("subtotal", "net", "total net", "net amount", "net total amount", "base net", "subtotal net"),
        (),
    ),
    "tax": (_sets("tax", "tax amount", "sales tax", "total tax"), ()),
    "total": (
        _sets(
            "total",
            "total due",
            "total amount",
            "invoice total",
            "invoice amount",
            "total gross",
            "grand total",
            "gross amount",
            "gross",
            "total amount due",
            "total invoice amount",
        ),
        _sets("amount due", "payable", "amount payable", "net payable", "balance due", "total payable"),
    ),
    "quantity": (_sets("quantity"), _sets("hours", "unit", "units", "count", "pieces")),
    "unit price": (_sets("unit price", "price unit", "price each"), _sets("price", "rate", "unit cost")),
    "amount": (
        _sets("amount", "line total", "line amount", "total price"),
        _sets("total", "net", "total net", "net amount"),
    ),
    "description": (
        _sets("description", "item description", "service description"),
        _sets("item", "service"),
    ),
}

YES = _words("yes ja oui si true x ✓ ✔ y wahr vrai verdadero")
NEGATIONS = _words("not no never nicht kein keine nie ne pas jamais sin nunca neither nor without")
NO = _words("no nein non false n falsch faux falso ✗")

SIGNS = {"€": "EUR", "£": "GBP", "$": "USD", "¥": "JPY", "₹": "INR", "₩": "KRW", "zł": "PLN", "₺": "TRY"}

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january januar janvier enero jan janv ene janner",
            "february februar fevrier febrero feb fevr fev",
            "march marz mars marzo mar mrz",
            "april avril abril apr avr abr",
            "may mai mayo",
            "june juni juin junio jun",
            "july juli juillet julio jul juil",
            "august aout agosto aug ago",
            "september septembre septiembre sep sept setiembre",
            "october oktober octobre octubre oct okt",
            "november novembre noviembre nov",
            "december dezember decembre diciembre dec dez dic",
        ),
        start=1,
    )
    for name in names.split()
}

# words that tell a language, where the form of dates depends on it: 3/4 is not in March everywhere
DAY_FIRST_WORDS = _words(
    "der die und mit rechnung betrag wahrung le les facture montant devise fournisseur echeance "
    "el los factura importe moneda proveedor fecha"
)
SUMMARY_WORDS = _words(
    "total subtotal net gross tax payable carried brought forward ubertrag zwischensumme report sum balance"
)
