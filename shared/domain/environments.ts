// The two environments, each a deployment of its own: `live` rents real machines, `test` is the sandbox.

export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
