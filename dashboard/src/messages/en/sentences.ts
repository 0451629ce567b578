// What the API says by a code: in English, as it says it itself.
import { type SentenceCode, SENTENCES } from "../../../../shared/domain/sentences.ts";

export const sentences: Readonly<Record<SentenceCode, string>> = SENTENCES;
