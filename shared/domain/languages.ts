// The languages of the dashboard and of mails.

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** How mails write dates. */
export const LOCALES: Readonly<Record<Language, string>> = { en: "en-GB", de: "de-DE" };
