// The few words that the dashboard needs before its catalog is loaded, or if it cannot be.
import { start as de } from "./de/start.ts";
import { start as en } from "./en/start.ts";
import { language } from "./language.ts";

export const startText = { en, de }[language];
