"""The day in a text, and the moment if the text says it, in the ways and languages in which pages write them.

A day is read only if it is written out: its month is a number or a whole name, and the day exists. A wrong date is
worse than none, so a name that languages use for different months counts only in a page that declares its language.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# The window is fixed, not "until today", so that the same page always gives the same answer.
FIRST_YEAR, LAST_YEAR = 1990, 2099  # outside are placeholders such as 0001-01-01 and 1970-01-01
LONGEST_DATE = 100  # characters in which a day is sought

# The names of the months in each language, then their abbreviations. A slash separates variants, such as nominative and
# genitive; a hyphen means that there is none; an underscore stands for a space. Most are from the Unicode CLDR (see
# NOTICE). Chinese, Japanese, Korean and Vietnamese number their months. Malay's "mac" is with the abbreviations because
# it is a word of English.
_NAMES_OF_MONTHS = """
    en: january february march april may june july august september october november december | jan feb mar apr -
        jun jul aug sep/sept oct nov dec
    de: januar/jänner februar/feber märz/maerz april mai juni juli august september oktober november dezember |
        jan feb/febr mär/mrz apr - jun jul aug sept/sep okt nov dez
    fr: janvier février mars avril mai juin juillet août septembre octobre novembre décembre | janv/jan févr/fév -
        avr - - juil/juill aoû sept/sep oct nov déc
    es: enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre | ene
        feb mar abr may jun jul ago sept/sep/set oct nov dic
    it: gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre | gen feb
        mar apr mag giu lug ago set/sett ott nov dic
    pt: janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro | jan fev mar abr
        mai jun jul ago set out nov dez
    nl: januari februari maart april mei juni juli augustus september oktober november december | jan feb/febr mrt
        apr - jun jul aug sep/sept okt nov dec
    ca: gener febrer març abril maig juny juliol agost setembre octubre novembre desembre | gen febr - abr - - jul
        ag set oct nov des
    gl: xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro | xan feb mar abr -
        - xul ago set out nov dec
    sv: januari februari mars april maj juni juli augusti september oktober november december | jan feb - apr - -
        - aug sep/sept okt nov dec
    da: januar februar marts april maj juni juli august september oktober november december | jan feb mar apr -
        jun jul aug sep okt nov dec
    no: januar februar mars april mai juni juli august september oktober november desember | jan feb mar apr - jun
        jul aug sep okt nov des
    is: janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember | jan feb mar apr - jún
        júl ágú sep okt nóv des
    fi: tammikuuta/tammikuu helmikuuta/helmikuu maaliskuuta/maaliskuu huhtikuuta/huhtikuu toukokuuta/toukokuu
        kesäkuuta/kesäkuu heinäkuuta/heinäkuu elokuuta/elokuu syyskuuta/syyskuu lokakuuta/lokakuu
        marraskuuta/marraskuu joulukuuta/joulukuu | tammi helmi maalis huhti touko kesä heinä elo syys loka marras
        joulu
    et: jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember | jaan veebr -
        apr - - - aug sept okt nov dets
    lv: janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris |
        janv febr - apr - jūn jūl aug sept okt nov dec
    lt: sausio/sausis vasario/vasaris kovo/kovas balandžio/balandis gegužės/gegužė birželio/birželis liepos/liepa
        rugpjūčio/rugpjūtis rugsėjo/rugsėjis spalio/spalis lapkričio/lapkritis gruodžio/gruodis | saus vas kov bal
        geg birž liep rugp rugs spal lapkr gruod
    pl: stycznia/styczeń lutego/luty marca/marzec kwietnia/kwiecień maja/maj czerwca/czerwiec lipca/lipiec
        sierpnia/sierpień września/wrzesień października/październik listopada/listopad grudnia/grudzień | sty lut
        mar kwi maj cze lip sie wrz paź lis gru
    cs: ledna/leden února/únor března/březen dubna/duben května/květen června/červen července/červenec srpna/srpen
        září října/říjen listopadu/listopad prosince/prosinec | led úno bře dub kvě čvn čvc srp zář říj lis pro
    sk: januára/január februára/február marca/marec apríla/apríl mája/máj júna/jún júla/júl augusta/august
        septembra/september októbra/október novembra/november decembra/december | jan feb mar apr máj jún júl aug
        sep okt nov dec
    sl: januar/januarja februar/februarja marec/marca april/aprila maj/maja junij/junija julij/julija
        avgust/avgusta september/septembra oktober/oktobra november/novembra december/decembra | jan feb mar apr -
        jun jul avg sep okt nov dec
    hr: siječnja/siječanj veljače/veljača ožujka/ožujak travnja/travanj svibnja/svibanj lipnja/lipanj
        srpnja/srpanj kolovoza/kolovoz rujna/rujan listopada/listopad studenoga/studeni prosinca/prosinac | sij
        velj ožu tra svi lip srp kol ruj lis stu pro
    sr: јануар/januar/јануара/januara фебруар/februar/фебруара/februara март/mart/марта/marta
        април/april/априла/aprila мај/maj/маја/maja јун/jun/јуна/juna/juni јул/jul/јула/jula/juli
        август/avgust/августа/avgusta/august/augusta септембар/septembar/септембра/septembra
        октобар/oktobar/октобра/oktobra новембар/novembar/новембра/novembra децембар/decembar/децембра/decembra |
        јан/jan феб/feb мар/mar апр/apr - - - авг/avg сеп/sep окт/okt нов/nov дец/dec
    mk: јануари февруари март април мај јуни јули август септември октомври ноември декември | јан фев мар апр -
        јун јул авг сеп окт ное дек
    bg: януари февруари март април май юни юли август септември октомври ноември декември | яну фев - апр - - -
        авг сеп окт ное дек
    ru: января/январь февраля/февраль марта/март апреля/апрель мая/май июня/июнь июля/июль августа/август
        сентября/сентябрь октября/октябрь ноября/ноябрь декабря/декабрь | янв февр/фев мар апр - июн июл авг
        сент/сен окт нояб/ноя дек
    uk: січня/січень лютого/лютий березня/березень квітня/квітень травня/травень червня/червень липня/липень
        серпня/серпень вересня/вересень жовтня/жовтень листопада/листопад грудня/грудень | січ лют бер квіт трав
        черв лип серп вер жовт лист груд
    be: студзеня/студзень лютага/люты сакавіка/сакавік красавіка/красавік мая/май чэрвеня/чэрвень ліпеня/ліпень
        жніўня/жнівень верасня/верасень кастрычніка/кастрычнік лістапада/лістапад снежня/снежань | сту лют сак кра
        - чэр ліп жні вер кас ліс сне
    hu: január február március április május június július augusztus szeptember október november december | jan
        febr márc ápr máj jún júl aug szept/szep okt nov dec
    ro: ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie | ian
        feb mar apr - iun iul aug sept/sep oct nov dec
    sq: janar shkurt mars prill maj qershor korrik gusht shtator tetor nëntor dhjetor | jan shk mar pri - qer korr
        gush sht tet nën dhj
    el: ιανουαρίου/ιανουάριος φεβρουαρίου/φεβρουάριος μαρτίου/μάρτιος απριλίου/απρίλιος μαΐου/μάιος
        ιουνίου/ιούνιος ιουλίου/ιούλιος αυγούστου/αύγουστος σεπτεμβρίου/σεπτέμβριος οκτωβρίου/οκτώβριος
        νοεμβρίου/νοέμβριος δεκεμβρίου/δεκέμβριος | ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ
    tr: ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık | oca şub mar nis may haz tem
        ağu eyl eki kas ara
    az: yanvar fevral mart aprel may iyun iyul avqust sentyabr oktyabr noyabr dekabr | yan fev mar apr - iyn iyl
        avq sen okt noy dek
    id: januari februari maret april mei juni juli agustus september oktober november desember | jan feb mar apr -
        jun jul agu/agt/ags sep okt nov des
    ms: januari februari - april mei jun julai ogos september oktober november disember | jan feb mac apr - - jul
        ogo sep okt nov dis
    ar: يناير/كانون_الثاني/جانفي فبراير/شباط/فيفري مارس/آذار أبريل/نيسان/أفريل مايو/ماي/أيار
        يونيو/حزيران/جوان/يونيه يوليو/يوليوز/تموز/جويلية/يوليه أغسطس/غشت/آب/أوت سبتمبر/شتنبر/أيلول
        أكتوبر/تشرين_الأول نوفمبر/نونبر/تشرين_الثاني ديسمبر/دجنبر/كانون_الأول
    fa: ژانویهٔ فوریهٔ مارس آوریل مهٔ/می ژوئن ژوئیهٔ اوت سپتامبر اکتبر نوامبر دسامبر
    ur: جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر
    he: ינואר פברואר מרץ/מרס אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר | ינו פבר - אפר - - - אוג ספט
        אוק נוב דצמ
    hi: जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर |
        जन फ़र - - - - जुल अग सित अक्टू नव दिस
    bn: জানুয়ারী/জানুয়ারি ফেব্রুয়ারী/ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর
        ডিসেম্বর | জানু ফেব - এপ্রি - - জুল আগ সেপ অক্টো নভে ডিসে
"""
# Where 3/4/2024 is a day in March; pages that declare no language are mostly in English.
_MONTH_FIRST = frozenset(("", "en", "en-US", "en-CA", "fil"))

_HAS_YEAR = re.compile("19|20|١٩|٢٠|۱۹|۲۰|१९|२०|১৯|২০")
# The digits of Arabic, Persian, Hindi and Bengali; the marks of direction in Arabic and Hebrew dates.
_TO_ASCII = {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966, 0x9E6) for digit in range(10)}
_TO_ASCII |= dict.fromkeys((0x200E, 0x200F, 0x61C), "")

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH, _DAY = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
# Vowel signs of Indian scripts are not matched by \w: letters are what is neither space, digit nor punctuation.
_LETTER = r"[^\s\d\x00-@\[-`{-\xbf\u060c\u2000-\u206f\u3000-\u303f]"
_WORD = rf"{_LETTER}{{2,15}}(?: الأول| الثاني)?"
_NAME = rf"(?P<name>{_WORD})"
_ORDINAL = "(?:(?i:st|nd|rd|th|er|re)|[º°ª])?"
_OF = r"(?:(?i:of |del? |d['\u2019])|\u05d1)?"  # in English, Romance languages and Hebrew
_COMMA = "[.,\u060c]"

# The ways to write a day, in the order in which they are tried.
_WAYS = [
    re.compile(rf"(?<!\d){pattern}")
    for pattern in (
        rf"{_YEAR}([-/]|\.\s?){_MONTH}\2{_DAY}(?!\d)",
        rf"{_YEAR}\s?[年년]\s?{_MONTH}\s?[月월]\s?{_DAY}\s?[日일]",
        rf"{_YEAR}(?P<month>\d\d)(?P<day>\d\d)(?!\d)",
        rf"{_DAY} (?i:tháng) {_MONTH}(?:,| năm|, năm)? {_YEAR}(?!\d)",
        rf"{_DAY}{_ORDINAL}{_COMMA}?[\s/-]?{_OF}{_NAME}{_COMMA}{{0,2}}(?:[\s/-]{_OF})?{_YEAR}(?!\d)",
        rf"(?<!{_LETTER})(?P<leading>{_WORD})\.?[\s/-]{_DAY}{_ORDINAL}(?:{_COMMA}\s?|[\s/-]){_YEAR}(?!\d)",
        rf"{_YEAR}(?:\.|,| m\.)?[\s/-]{_NAME}\.?[\s/-]{_DAY}(?!\d)",
        rf"{_YEAR}\. gada {_DAY}\. {_NAME}",
        rf"(?P<first>\d{{1,2}})(?P<between>[-/]|\.\s?)(?P<second>\d{{1,2}})(?P=between){_YEAR}(?!\d)",
    )
]
_IN_PATH = re.compile(rf"/{_YEAR}[/-]{_MONTH}[/-]{_DAY}(?!\d)")
_MOMENT = re.compile(
    r"(?<!\d)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,]\d+)?\s?(?:(Z)|([+-]\d\d):?(\d\d))?(?!\d)", re.IGNORECASE
)


def may_have_day(text: str) -> bool:
    """Whether a text has what may begin a year, as few texts have."""
    return _HAS_YEAR.search(text) is not None


def read_day(text: str, language: str = "") -> str | None:
    """The first day in the beginning of a text, as YYYY-MM-DD.

    Args:
        text: the text.
        language: the page's language, if it declares one; decides what 3/4/2024 means, and what "listopad".
    """
    text = text[:LONGEST_DATE]
    if not may_have_day(text):
        return None
    days = _days(text if text.isascii() else text.translate(_TO_ASCII), language)
    return next(filter(None, days), None)


def read_day_in_path(url: str) -> str | None:
    """The day in an address such as /2024/05/17/headline."""
    match = _IN_PATH.search(url[:2_000])
    return _iso(match["year"], int(match["month"]), int(match["day"])) if match else None


def read_moment(text: str) -> str | None:
    """The first moment in the beginning of a text that is written as in ISO 8601, to the minute or second.

    With its zone, if the text has one; Z is written +00:00.
    """
    match = _MOMENT.search(text[:LONGEST_DATE])
    if match is None:
        return None
    day, minute, second, is_utc, hours, minutes = match.groups()
    zone = "+00:00" if is_utc else f"{hours}:{minutes}" if hours else ""
    try:
        moment = datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{zone}")
    except ValueError:  # 25:00, or a zone a day away
        return None
    return moment.isoformat()


def _days(text: str, language: str) -> Iterator[str | None]:
    """The days in a text, and None for what only looks like one."""
    for way in _WAYS:
        for match in way.finditer(text):
            parts = match.groupdict()
            if "first" in parts:
                first, second = int(parts["first"]), int(parts["second"])
                is_month_first = language in _MONTH_FIRST and first <= 12 and "." not in parts["between"]
                month, day = (first, second) if second > 12 or is_month_first else (second, first)
            else:
                leading = parts.get("leading")
                name = leading or parts.get("name")
                month = _month(name, language, leads=bool(leading)) if name else int(parts["month"])
                day = int(parts["day"])
            yield _iso(parts["year"], month, day)


def _iso(year: str, month: int, day: int) -> str | None:
    try:
        found = date(int(year), month, day)
    except ValueError:  # 31 February, or month 0 for a word that is no month
        return None
    return found.isoformat() if FIRST_YEAR <= found.year <= LAST_YEAR else None


def _month(name: str, language: str, *, leads: bool) -> int:
    """The number of a month, or 0.

    If the name leads, as in "Set 12, 2024", it may be any word: abbreviations of languages other than English and the
    page's do not count.
    """
    meanings = _meanings().get(_plain(name), [])
    own = [month for known, month, _ in meanings if known == language.partition("-")[0]]
    others = [month for known, month, is_whole in meanings if is_whole or known == "en" or not leads]
    months = set(own or others)
    return months.pop() if len(months) == 1 else 0


@cache
def _meanings() -> dict[str, list[tuple[str, int, bool]]]:
    """What each name stands for: languages, months, and whether it is a whole name."""
    meanings: dict[str, list[tuple[str, int, bool]]] = {}
    for entry in re.split(r"\s+(?=\w\w:)", _NAMES_OF_MONTHS.strip()):
        language, _, names = entry.partition(":")
        for is_whole, column in zip((True, False), names.split("|"), strict=False):
            for month, variants in enumerate(column.split(), 1):
                for name in variants.split("/"):
                    meanings.setdefault(_plain(name.replace("_", " ")), []).append((language, month, is_whole))
    return meanings


def _plain(name: str) -> str:
    """A name without upper case, accents and the sign of an abbreviation; Turkish i has a dot, or has not."""
    letters = unicodedata.normalize("NFKD", name.casefold()).rstrip("॰׳'")
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).replace("ı", "i")
