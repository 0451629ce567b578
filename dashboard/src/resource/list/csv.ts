// A list as a CSV file (RFC 4180), which a spreadsheet opens as text and never as formulas.
import type { Column } from "./column.ts";

/** So that Excel takes it for UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";
/** What spreadsheets take for the beginning of a formula, in full width as well. */
const FORMULA = /^[\s]*[=+\-@\t\r＝＋－＠]/;

export function toCsv<Item>(columns: readonly Column<Item>[], items: readonly Item[]): string {
  const written = columns.flatMap(({ header, text }) => (text === undefined ? [] : [{ header, text }]));
  const rows = [written.map(({ header }) => header), ...items.map((item) => written.map(({ text }) => text(item)))];
  return BYTE_ORDER_MARK + rows.map((row) => `${row.map(escapeCell).join(",")}\r\n`).join("");
}

function escapeCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /["\r\n,;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function saveFile(name: string, content: string, type: "csv" | "plain" = "csv"): void {
  const url = URL.createObjectURL(new Blob([content], { type: `text/${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url)); // the download has begun by then
}
