// `?dry_run=true`: checks a request without doing anything. The authorizer and the handler must agree on which requests are dry
// runs.

/** Whether the query asks for a dry run. Any value but `true` and `false` is invalid, which the handler reports. */
export const isDryRun = (endpoint: { dryRun: boolean }, query: Readonly<Record<string, string | undefined>> | null): boolean =>
  endpoint.dryRun && query?.["dry_run"] === "true";
