// The two environments, each a separate deployment: `live` rents real machines, `test` is the sandbox.

export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
