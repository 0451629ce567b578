// Which browser on which system a session was opened with, as far as the `User-Agent` says. Browsers name others in it, too, so
// the first of the list that is found is the one.

const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\bEdg(?:A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /(?:Chrome|Chromium|CriOS)\//],
  ["Safari", /\bSafari\//],
];

const SYSTEMS: typeof BROWSERS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
];

export interface Device {
  browser: string;
  system: string;
}

/** Undefined for a program, which says itself what it is. */
export function recognizeDevice(userAgent: string): Device | undefined {
  const [browser, system] = [BROWSERS, SYSTEMS].map((all) => all.find(([, pattern]) => pattern.test(userAgent))?.[0]);
  return browser === undefined || system === undefined ? undefined : { browser, system };
}
