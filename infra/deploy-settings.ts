// What an operator has chosen for an environment, kept in cdk.json and so in the repository: forgetting an option once changes nothing.
import * as z from "zod";
import type { Environment } from "../shared/domain/environments.ts";

/** Passed as a value, it removes the option. */
export const NONE = "none";

export const Chosen = z.strictObject({
  alarmEmail: z.string().optional(),
  otherDashboard: z.string().optional(),
  domain: z.string().optional(),
  certificate: z.string().optional(),
});
export type Chosen = z.infer<typeof Chosen>;
export type ChosenName = keyof Chosen;

const CdkJson = z.looseObject({ context: z.looseObject({ test: Chosen.optional(), live: Chosen.optional() }) });

/** cdk.json with what was chosen, and what then holds for the environment. */
export function withChosen(cdkJson: string, environment: Environment, chosen: Chosen): { text: string; values: Chosen } {
  const { context, ...rest } = CdkJson.parse(JSON.parse(cdkJson));
  const together = Object.entries({ ...context[environment], ...chosen });
  const values = Chosen.parse(Object.fromEntries(together.filter(([, value]) => value !== NONE)));
  if (Object.keys(chosen).length === 0) return { text: cdkJson, values };
  return { text: `${JSON.stringify({ ...rest, context: { ...context, [environment]: values } }, undefined, 2)}\n`, values };
}

/** Why a deployment fails that would remove the stack's domain without an explicit option. */
export function forgottenDomain(outputs: Readonly<Record<string, string>>, values: Chosen, chosen: Chosen): string | undefined {
  const own = "Distribution" in outputs; // there only with a domain
  if (!own || values.domain !== undefined || chosen.domain === NONE) return undefined;
  return `The stack is reached at ${outputs["Dashboard"]}, and this deployment would take that name away: give --domain and --certificate
as before, or --domain none if that is what you want.`;
}
