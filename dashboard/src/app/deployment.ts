// What a deployment tells its dashboard, in a file that is served with it.
import * as z from "zod";
import { ENVIRONMENTS } from "../../../shared/domain/environments.ts";

const Environment = z.enum(ENVIRONMENTS);

const Deployment = z.object({
  environment: Environment,
  /** The other environment's dashboard, if the operator has configured it. */
  other_dashboard: z.object({ environment: Environment, url: z.url({ protocol: /^https?$/ }) }).nullable(),
  /** The URL of the API reference. */
  api_page: z.string().startsWith("/").nullable(),
});
export type Deployment = z.infer<typeof Deployment>;

export async function readDeployment(signal: AbortSignal): Promise<Deployment> {
  const response = await fetch("/config.json", { signal });
  return Deployment.parse(await response.json());
}
