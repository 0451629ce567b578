// A name that a user types to confirm is compared as it is shown: a page shows several spaces as one, and equal characters
// however they are encoded.
const asShown = (name: string): string => name.normalize("NFC").replaceAll(/\s+/gu, " ").trim();

export const isSameName = (typed: string, name: string): boolean => asShown(typed) === asShown(name);
