// Text that stands for bytes in exactly one way: the last character may have bits without a meaning, and whoever changes them
// presents another text.

export const isCanonical = (text: string): boolean =>
  text !== "" && Buffer.from(text, "base64url").toString("base64url") === text;
