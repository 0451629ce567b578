// The language of the dashboard: the user's choice in this browser, else the first of the browser's languages that there is, else
// English.
import { type Language, LANGUAGES } from "../../../shared/domain/languages.ts";

const KEY = "language";

/** Undefined for the browser's. */
export const chosenLanguage = (): Language | undefined => LANGUAGES.find((each) => each === localStorage.getItem(KEY));

/** Takes effect when the page is loaded again. */
export function chooseLanguage(next: Language | undefined): void {
  if (next === undefined) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
}

/** "de" of "de-AT". Tags that are more than a language, a script and a region are of no use to `Intl` in some browsers. */
const languageIn = (tag: string): Language | undefined =>
  /^[a-z]{2}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?$/i.test(tag)
    ? LANGUAGES.find((each) => each === tag.slice(0, 2).toLowerCase())
    : undefined;

export const language: Language =
  chosenLanguage() ?? navigator.languages.map(languageIn).find((each) => each !== undefined) ?? "en";

/** The locale for dates and numbers, as the browser writes the language, such as "en-GB". */
export const locale: string = navigator.languages.find((tag) => languageIn(tag) === language) ?? language;
