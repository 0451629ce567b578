// The operator's options for an environment, stored in cdk.json and so in the repository: a forgotten option changes nothing.
import * as z from "zod";
import type { Environment } from "../shared/domain/environments.ts";

/** This value removes the option. */
export const NONE = "none";

export const Chosen = z.strictObject({
  alarmEmail: z.string().optional(),
  otherDashboard: z.string().optional(),
  brand: z.string().optional(),
  domain: z.string().optional(),
  certificate: z.string().optional(),
});
export type Chosen = z.infer<typeof Chosen>;
export type ChosenName = keyof Chosen;

const CdkJson = z.looseObject({ context: z.looseObject({ test: Chosen.optional(), live: Chosen.optional() }) });

/** cdk.json with the new options, and the resulting options of the environment. */
export function withChosen(cdkJson: string, environment: Environment, chosen: Chosen): { text: string; values: Chosen } {
  const { context, ...rest } = CdkJson.parse(JSON.parse(cdkJson));
  const together = Object.entries({ ...context[environment], ...chosen });
  const values = Chosen.parse(Object.fromEntries(together.filter(([, value]) => value !== NONE)));
  if (Object.keys(chosen).length === 0) return { text: cdkJson, values };
  return { text: `${JSON.stringify({ ...rest, context: { ...context, [environment]: values } }, undefined, 2)}\n`, values };
}

/** Why a deployment that would remove the stack's domain without an explicit option fails. */
export function forgottenDomain(outputs: Readonly<Record<string, string>>, values: Chosen, chosen: Chosen): string | undefined {
  const own = "Distribution" in outputs; // only with a domain
  if (!own || values.domain !== undefined || chosen.domain === NONE) return undefined;
  return `The stack is reached at ${outputs["Dashboard"]}, and this deployment would take that name away: give --domain and --certificate
as before, or --domain none if that is what you want.`;
}
