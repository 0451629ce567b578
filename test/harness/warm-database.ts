// With this variable, tests find a DynamoDB Local that runs already (test/check/warm.ts).

/** The environment variable with its URL. */
export const WARM_DATABASE = "WARM_DATABASE_URL";
