// A list as a CSV file (RFC 4180, but for the separator), which a spreadsheet opens as text and never as formulas: whether it
// separates cells by commas, semicolons or tabs.
import { language } from "../../messages/language.ts";
import type { Column } from "./column.ts";

/** This makes Excel take the file for UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";
/**
 * Matches where spreadsheets see the beginning of a formula, in full width as well: in a cell, and in what a cell becomes if
 * another character separates cells.
 */
const FORMULA = /(?:^|[,;\t\r\n])["\s]*(?=[=+\-@＝＋－＠])|^(?=[\t\r])/g;

/** The separators of Excel in each language: a semicolon where numbers have a comma. */
const SEPARATORS = { en: ",", de: ";" } as const;

export function toCsv<Item>(
  columns: readonly Column<Item>[],
  items: readonly Item[],
  separator: string = SEPARATORS[language],
): string {
  const written = columns.flatMap(({ header, textHeader = header, text }) =>
    text === undefined ? [] : [{ header: textHeader, text }],
  );
  const rows = [written.map(({ header }) => header), ...items.map((item) => written.map(({ text }) => text(item)))];
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(escapeCell).join(separator)}\r\n`).join("");
}

function escapeCell(text: string): string {
  const safe = text.replace(FORMULA, "$&'");
  return /["\r\n,;\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function saveFile(name: string, content: string, type: "csv" | "plain" = "csv"): void {
  const url = URL.createObjectURL(new Blob([content], { type: `text/${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url)); // the download has begun by then
}
