// What a user may paste into a search.

/** "https://shop.example.com/web" becomes "shop.example.com": the address of an ERP is in its browser's address bar. */
export const withoutUrls = (typed: string): string => typed.replaceAll(/\bhttps?:\/\/([^\s/]+)\S*/g, "$1");
