// How text is searched: by the beginnings of its words, without case and accents.

/** Letters that Unicode does not take apart into a letter and an accent, and the sigma at the end of a word. */
const PLAIN: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ł: "l", ı: "i", ς: "σ" };

const ASCII = /^[\x20-\x7e]*$/;

/** A text without what a search ignores. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .normalize("NFC")
    .replace(/[ßæœøđłıς]/g, (letter) => PLAIN[letter] ?? letter);
}

const LETTER = /[\p{L}\p{N}]/u;
const BETWEEN_WORDS = /[^\p{L}\p{N}]+/u;

/** Whether a text has words that begin with each word of a search. */
export function matcherOf(search: string): (text: string) => boolean {
  const wanted = folded(search)
    .split(BETWEEN_WORDS)
    .filter((word) => word !== "");
  return (text) => {
    const all = folded(text);
    return wanted.every((beginning) => hasWord(all, beginning));
  };
}

function hasWord(text: string, beginning: string): boolean {
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1))
    if (at === 0 || !LETTER.test(text.charAt(at - 1))) return true;
  return false;
}
