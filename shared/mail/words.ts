// The words of every mail, in each language. Values are inserted as text that cannot become a link (`defuse`).
import type { Words } from "./content.ts";
import { DE } from "./de.ts";
import { EN } from "./en.ts";
import type { Language } from "../domain/languages.ts";

export const WORDS: Readonly<Record<Language, Words>> = { en: EN, de: DE };
