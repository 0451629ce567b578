// A number as the user's language writes it: "10,000".
import { locale } from "../../messages/language.ts";

const grouped = new Intl.NumberFormat(locale);

export const formatCount = (number: number): string => grouped.format(number);
