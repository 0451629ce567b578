// What a deployment says of itself beside the API: a file that is served with the dashboard.
import * as z from "zod";
import { ENVIRONMENTS } from "../../../shared/domain/environments.ts";

const Environment = z.enum(ENVIRONMENTS);

const Deployment = z.object({
  environment: Environment,
  /** The dashboard of the other environment, where the operator has configured it. */
  other_dashboard: z.object({ environment: Environment, url: z.url({ protocol: /^https?$/ }) }).nullable(),
  /** Where the API is described for people. */
  api_page: z.string().startsWith("/").nullable(),
});
export type Deployment = z.infer<typeof Deployment>;

export async function readDeployment(signal: AbortSignal): Promise<Deployment> {
  const response = await fetch("/config.json", { signal });
  return Deployment.parse(await response.json());
}
