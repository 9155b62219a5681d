/**
 * Dates in notations of their own, rewritten as `written_dates` reads them. The same rules as those of
 * Python's `usual_dates`.
 * @module
 */

const WEEKDAYS = new Set((
  "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday mo di mi " +
  "do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lun mar mer jeu ven sam dim " +
  "lundi mardi mercredi jeudi vendredi samedi dimanche mié mie jue vie sáb sab dom lunes martes miércoles " +
  "miercoles jueves viernes sábado sabado domingo gio lunedì martedì mercoledì giovedì venerdì domenica seg ter " +
  "qua qui sex segunda terça quarta quinta sexta segunda-feira terça-feira quarta-feira quinta-feira sexta-feira " +
  "ma wo vr za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag man tir tor lør søn mandag tirsdag " +
  "onsdag torsdag fredag lørdag søndag mån tis ons tors fre lör sön måndag tisdag lördag söndag ke pe la su " +
  "maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai pon wt śr czw pt sob niedz poniedziałek " +
  "wtorek środa czwartek piątek sobota niedziela po út st čt pá ne pondělí úterý středa čtvrtek pátek neděle " +
  "hétfő kedd szerda csütörtök péntek szombat vasárnap pzt sal çar per cum cmt paz pazartesi salı çarşamba " +
  "perşembe cuma cumartesi pazar пн вт ср чт пт сб вс понедельник вторник среда четверг пятница суббота " +
  "воскресенье"
).split(" "));
const ODD = /[年時时點点시]|^[\p{L}\p{Nl}\p{No}_]|\d{4}:\d|^\d{14}|\d[ .]*[\p{L}\p{Nl}\p{No}_]|^\d{4}[^\p{L}\p{N}_]?[A-Z]{2}/u;
const WEEKDAY = /^([\p{L}\p{Nl}\p{No}]+(?:-[fF][eE][iI][rR][aA])?)\.?,?\s+(?=\d{1,4}\s?[./-]\s?\d{1,2}\s?[./-])/u;
const ERA = /^(令和|平成|昭和)\s?(\d{1,2}|元)年/u;
/** @type {Record<string, number>} */
const ERAS = { 令和: 2018, 平成: 1988, 昭和: 1925 };
const HOURS = /\s?(\d{1,2})\s?[時时點点시]\s?(\d{1,2})\s?[分분](?:\s?(\d{1,2})\s?[秒초])?$/u;
const WEEK = /^(?:KW|CW|Week|week|Woche|uge|Uge|vecka)\.?\s?(\d{1,2})[\s/.,-]{1,2}(\d{4})$/u;
const YEAR_WEEK = /^(\d{4})[\s/-]?(?:KW|CW)\s?(\d{1,2})$/u;
const QUARTER = new RegExp(
  "^([1-4])(?:\\.|st|nd|rd|th|er|e|º|°)?\\s?(?:Q|quarter|quartal|kvartal|trimestre|kwartał|квартал)" +
    "\\.?[\\s/]{0,2}(\\d{4})(?:\\s?г\\.?)?$", "iu",
);
const QUARTER_NUMBER = /^(?:quarter|quartal|trimestre)\s?([1-4])[\s/-]{1,2}(\d{4})$/iu;
const SPAN = /^P(?:(\d{1,3})D)?T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,7})(\.\d{1,9})?S)?$/u;

/** @param {string} digits @returns {string} */
const two = (digits) => digits.padStart(2, "0");

/**
 * Return a text whose date is written in the usual way; any other as it is.
 * @param {string} text
 * @returns {string}
 */
export function usualDate(text) {
  if (!ODD.test(text)) return text;
  if (/^\p{L}/u.test(text)) text = afterAWord(text);
  if (text.includes("年") || /[分분秒초]$/u.test(text)) {
    text = text.replace(HOURS, (_, hour, minute, second) => ` ${hour}:${two(minute)}${second === undefined ? "" : `:${two(second)}`}`).trim();
  }
  let found = QUARTER.exec(text) ?? QUARTER_NUMBER.exec(text);
  if (found !== null) return `Q${found[1]} ${found[2]}`;
  found = YEAR_WEEK.exec(text);
  if (found !== null) return `${found[1]}-W${two(found[2])}`;
  if (/^\d{14}(?:\.\d+)?Z$/u.test(text)) return `${text.slice(0, 8)}T${text.slice(8)}`;
  return text.replace(/(?<=[/ -]\d{4}):(?=\d\d:\d\d)/u, " ");
}

/** @param {string} text @returns {string} without a weekday; eras, weeks and durations as they are usually written */
function afterAWord(text) {
  let found = WEEKDAY.exec(text);
  if (found !== null && WEEKDAYS.has(found[1].toLowerCase())) return text.slice(found[0].length);
  found = ERA.exec(text);
  if (found !== null) return `${ERAS[found[1]] + (found[2] === "元" ? 1 : Number(found[2]))}年${text.slice(found[0].length)}`;
  found = WEEK.exec(text);
  if (found !== null) return `${found[2]}-W${two(found[1])}`;
  found = text.endsWith("T") ? null : SPAN.exec(text);
  if (found !== null) {
    const [days, hours, minutes, seconds] = [1, 2, 3, 4].map((at) => Number(found?.[at] ?? 0));
    const total = ((24 * days + hours) * 60 + minutes) * 60 + seconds;
    return `${Math.floor(total / 3600)}:${two(`${Math.floor(total / 60) % 60}`)}:${two(`${total % 60}`)}${found[5] ?? ""}`;
  }
  return text;
}
