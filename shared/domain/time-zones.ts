// Local time in the IANA time zones, on top of what `Intl` knows of them.
//
// A wall time is what a clock in the zone shows, as the milliseconds that it would be in UTC.
import { DAY_MS } from "./durations.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

function createFormat(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

let zones: ReadonlyMap<string, string> | undefined;

/**
 * IANA's name of a zone in its canonical spelling, whatever its case: `europe/berlin` is `Europe/Berlin`. Undefined for what else
 * `Intl` takes: offsets such as `+02:00`, and old abbreviations, some of which are not the zone that people mean by them (BST is
 * in Bangladesh).
 */
export function zoneNamed(name: string): string | undefined {
  zones ??= new Map([...Intl.supportedValuesOf("timeZone"), ...OTHER_NAMES].map((zone) => [zone.toLowerCase(), zone]));
  return zones.get(name.toLowerCase());
}

/**
 * IANA's names that `Intl` takes and does not list, because it has another name for the same zone: `Asia/Calcutta` for
 * `Asia/Kolkata`.
 */
const OTHER_NAMES = `
  Africa/Asmara Africa/Asmera Africa/Timbuktu America/Argentina/Buenos_Aires America/Argentina/Catamarca
  America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy America/Argentina/Mendoza
  America/Atikokan America/Atka America/Buenos_Aires America/Catamarca America/Coral_Harbour America/Cordoba America/Ensenada
  America/Fort_Wayne America/Godthab America/Indiana/Indianapolis America/Indianapolis America/Jujuy
  America/Kentucky/Louisville America/Knox_IN America/Louisville America/Mendoza America/Montreal America/Nipigon America/Nuuk
  America/Pangnirtung America/Porto_Acre America/Rainy_River America/Rosario America/Santa_Isabel America/Shiprock
  America/Thunder_Bay America/Virgin America/Yellowknife Antarctica/South_Pole Arctic/Longyearbyen Asia/Ashkhabad
  Asia/Calcutta Asia/Choibalsan Asia/Chongqing Asia/Chungking Asia/Dacca Asia/Harbin Asia/Ho_Chi_Minh Asia/Istanbul
  Asia/Kashgar Asia/Kathmandu Asia/Katmandu Asia/Kolkata Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu
  Asia/Ujung_Pandang Asia/Ulan_Bator Asia/Yangon Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Australia/ACT
  Australia/Canberra Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland Australia/South
  Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East
  Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland Canada/Pacific
  Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0
  Etc/GMT+1 Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8 Etc/GMT+9
  Etc/GMT-0 Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 Etc/GMT-4 Etc/GMT-5 Etc/GMT-6
  Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Kiev
  Europe/Kyiv Europe/Nicosia Europe/Tiraspol Europe/Uzhgorod Europe/Zaporozhye GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST
  Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ
  NZ-CHAT Navajo PRC PST8PDT Pacific/Chuuk Pacific/Enderbury Pacific/Johnston Pacific/Kanton Pacific/Pohnpei Pacific/Ponape
  Pacific/Samoa Pacific/Truk Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska US/Aleutian US/Arizona
  US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain US/Pacific US/Samoa UTC Universal
  W-SU WET Zulu
`
  .trim()
  .split(/\s+/);

/** What the zone's clocks show at an instant (ms since 1970). */
export function wallTime(zone: string, instant: number): number {
  if (zone === "UTC") return instant;
  const seconds = Math.floor(instant / 1000) * 1000;
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of createFormat(zone).formatToParts(seconds)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (instant - seconds);
}

/** The instant at which clocks show a wall time: the first one if they show it twice, the end of the gap if they skip it. */
export function toInstant(zone: string, wall: number): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((near) => wallTime(zone, near) - near);
  const candidates = offsets.map((offset) => wall - offset).toSorted((a, b) => a - b);
  const exact = candidates.find((instant) => wallTime(zone, instant) === wall);
  if (exact !== undefined) return exact;
  let [before = wall, after = wall] = candidates;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallTime(zone, middle) > wall) after = middle;
    else before = middle;
  }
  return after;
}
