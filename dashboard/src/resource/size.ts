// Sizes in words: "1.25 GB".

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function sizeInWords(bytes: number | null): string {
  if (bytes === null) return "–";
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const size = bytes / 1000 ** power;
  return `${power === 0 ? size : size.toPrecision(3)} ${UNITS[power] ?? ""}`;
}
