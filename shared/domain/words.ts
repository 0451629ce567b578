// How text is searched: by the beginnings of its words, without what people leave out or write differently when they type: case,
// accents, compatibility forms, apostrophes, digits of other scripts. Texts are stored as they are and folded when they are read,
// so that another version of Unicode changes what is found, never what is stored.

/** Letters that Unicode does not take apart into a letter and an accent, and the sigma at the end of a word. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ł: "l",
  ŧ: "t",
  þ: "th",
  ı: "i",
  ς: "σ",
  // Persian and Arabic keyboards have different letters for the same sound.
  ی: "ي",
  ى: "ي",
  ک: "ك",
};

/** Most keyboards lack the mark of Hebrew abbreviations (בע״מ), so that people type a quotation mark instead. */
const QUOTE_WITHIN_HEBREW = /(?<=\p{sc=Hebr})["“”](?=\p{sc=Hebr})/gu;

const DIGIT = /\p{Nd}/u;

/** Unicode has the ten digits of a script in a row, from zero. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10); // some rows follow each other
}

const ASCII = /^[\x20-\x7e]*$/;

/** A text without what a search ignores. */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(/´/g, "'") // NFKD makes a space of it
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}ـ]/gu, "") // and what only lengthens Arabic words
    .replace(/[ßæœøđðħłŧþıςیىک]/g, (letter) => PLAIN[letter] ?? letter)
    .replace(QUOTE_WITHIN_HEBREW, "״")
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit);
}

/**
 * What stands inside a word and is often left out: apostrophes, also of Armenian and of Arabic in Latin letters, the marks of
 * Hebrew abbreviations, the dots of Catalan and Japanese names, joiners.
 */
const INSIDE_WORDS = "'`‘’‛′ʹʻʼʽʾʿˈ՚׳״ꞌ·・\u200c\u200d";
const APOSTROPHE = new RegExp(`[${INSIDE_WORDS}]`, "gu");
const BETWEEN_WORDS = new RegExp(`[^\\p{L}\\p{N}${INSIDE_WORDS}]+`, "u");

/** Emoji that are made of a digit, a letter or a sign, such as keycaps, ℹ️ and ™️: nobody who types one means that letter. */
const EMOJI = /[\d#*]\ufe0f?\u20e3|\p{Extended_Pictographic}\ufe0f/gu;

/** Shorter parts are in too many words. */
const PART_MIN = 3;

/**
 * Whether a text has words that begin with each word of a search, or `within`, that have it anywhere; a search without letters
 * and digits finds nothing.
 */
export function createMatcher(search: string, { within = false }: { within?: boolean } = {}): (text: string) => boolean {
  const has = (text: string, word: string): boolean =>
    within && word.length >= PART_MIN ? text.includes(word) : hasWord(text, word);
  const words = folded(search.replaceAll(EMOJI, " "))
    .split(BETWEEN_WORDS)
    .map((word) => ({ whole: word.replace(APOSTROPHE, ""), parts: word.split(APOSTROPHE).filter((part) => part !== "") }))
    .filter(({ whole }) => whole !== "");
  return (text) => {
    const apart = folded(text).replace(APOSTROPHE, "'");
    const joined = apart.replaceAll("'", "");
    // `obrien`, `o'brien` and `brien` find O’Brien.
    return words.length > 0 && words.every(({ whole, parts }) => has(joined, whole) || parts.every((part) => has(apart, part)));
  };
}

function hasWord(text: string, beginning: string): boolean {
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) if (isBeginning(text, at)) return true;
  return false;
}

const LETTER_BEFORE = /[\p{L}\p{N}]$/u;

/**
 * Scripts that put no spaces between words, where a word may begin at any letter; Korean puts none within a company's name.
 * Splitting into words would need a dictionary, and those differ by version.
 */
const UNSPACED =
  /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Hang}\p{sc=Yiii}\p{sc=Nshu}\p{sc=Tang}\p{sc=Kits}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}\p{sc=Ahom}\p{sc=Java}\p{sc=Bali}\p{sc=Batk}\p{sc=Bugi}ー々〆]/u;
const UNSPACED_BEFORE = new RegExp(`${UNSPACED.source.slice(1)}$`, "u");

/** The vowels and the ends of Korean syllables, which folding takes apart. */
const WITHIN_SYLLABLE = /^[\u1160-\u11ff]/;

function isBeginning(text: string, at: number): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 2), at), text.slice(at, at + 2)];
  if (!LETTER_BEFORE.test(before)) return true;
  return (UNSPACED.test(after) || UNSPACED_BEFORE.test(before)) && !WITHIN_SYLLABLE.test(after);
}

/** What is compared of a name that must be unique: names that look the same are the same, but for case. */
export const uniqueForm = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC") // a letter and its accent, between which there was a joiner
    .replace(/[\s\u2800]+/gu, " ")
    .trim();
