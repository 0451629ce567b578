// The editions of the ERP, and the versions of it that can be installed, newest first: a new one is a line here.
export const EDITIONS = ["community", "enterprise"] as const;
export type Edition = (typeof EDITIONS)[number];

export interface ErpVersion {
  version: string;
  /** Can still be installed, but will not be for long. */
  deprecated: boolean;
}

export const ERP_VERSIONS: readonly ErpVersion[] = [
  { version: "19.0", deprecated: false },
  { version: "18.0", deprecated: false },
  { version: "17.0", deprecated: true },
];

/** Versions that are offered, before all others, as soon as the registry has an image of them. */
export const COMING_ERP_VERSIONS: readonly string[] = ["20.0"];
