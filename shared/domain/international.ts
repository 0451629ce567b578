// Names in other scripts where only ASCII is taken: domains, those of email addresses, and hosts of URLs. They are stored in
// their ASCII form (IDNA, with the mapping that browsers use).

const ASCII = /^[\x00-\x7f]*$/; // oxlint-disable-line no-control-regex
/** Otherwise a URL takes it apart. */
const HOST = /^[A-Za-z0-9.\-\u0080-\u{10ffff}]+$/u;

/** The ASCII form; what has none stays as it is, for the field's own rules to reject. */
export function asciiDomain(name: string): string {
  if (ASCII.test(name) || !HOST.test(name)) return name;
  try {
    return new URL(`http://${name}`).hostname;
  } catch {
    return name;
  }
}

/** The same for the host of a URL. */
export const asciiUrl = (url: string): string =>
  url.replace(/^([a-z]+:\/\/(?:[a-z]+@)?)([^/:?#@]+)/, (_, before: string, host: string) => before + asciiDomain(host));

/** The same for an email address, of which only the part after the @ may be in another script. */
export function asciiEmail(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  return address.slice(0, at) + asciiDomain(address.slice(at));
}
