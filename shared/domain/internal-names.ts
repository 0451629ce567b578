// Domains that no instance with real users can have: nobody outside resolves them, or they name what only the machine itself may
// reach.

/** Reserved for internal use or documentation (RFC 2606, RFC 6761, RFC 6762, ICANN's .internal). */
const INTERNAL = /\.(?:local|internal|invalid|localhost|example)$/;

/** The services that hand out a cloud machine's credentials, and public names that only spell their address. */
const METADATA_NAMES = [
  "metadata.goog",
  "metadata.digitalocean.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
  "metadata.tencentyun.com",
  "metadata.exoscale.com",
  "api.metadata.cloud.ibm.com",
];
const METADATA_ADDRESS =
  /(?:^|[.-])(?:169[.-]254[.-]\d{1,3}[.-]\d{1,3}|100[.-]100[.-]100[.-]200|168[.-]63[.-]129[.-]16|a9fea9fe|fd00-ec2--254)(?:[.-]|$)/;

export const isInternalName = (domain: string): boolean =>
  INTERNAL.test(domain) ||
  METADATA_ADDRESS.test(domain) ||
  METADATA_NAMES.some((name) => domain === name || domain.endsWith(`.${name}`));
