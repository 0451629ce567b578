// Numbers as people read and type them.

/** The digits of IDs and recovery codes (Crockford's Base32, in lowercase): none looks like another. */
export const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
