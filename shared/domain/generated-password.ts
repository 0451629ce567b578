// Passwords that the service generates for the administrator of an ERP.
import { randomInt } from "node:crypto";

/** No characters that are easily mistaken for each other, because people type these. */
const ALPHABET = "23456789abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const GROUPS = 5;
const GROUP_CHARACTERS = 4;

/** 20 characters of 5.8 bits each: 116 bits. */
export const generatePassword = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(""),
  ).join("-");
