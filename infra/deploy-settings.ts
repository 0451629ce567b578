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

/** What the stack's outputs say of its settings. */
type Outputs = Readonly<Record<string, string>>;

/** Why a deployment fails that would change the stack's domain or alarm email without an option: cdk.json is an older one, or another checkout's. */
export function forgotten(outputs: Outputs, values: Chosen, chosen: Chosen): string | undefined {
  const { Distribution, Dashboard, AlarmEmail } = outputs;
  const own = Distribution === undefined ? undefined : Dashboard; // only a stack with a domain has this output
  if (own !== undefined && chosen.domain === undefined && own !== `https://${values.domain}`)
    return `The stack is reached at ${own}, and this deployment would take that name away: give --domain and --certificate
as before, or --domain none if that is what you want.`;
  if (AlarmEmail !== undefined && chosen.alarmEmail === undefined && AlarmEmail !== values.alarmEmail)
    return `Alarms go to ${AlarmEmail}, and this deployment would end that: give --alarm-email as before, or --alarm-email none.`;
  return undefined;
}

/**
 * Why a deployment with this key fails: the functions change before CloudFront does, and accept only this key and the one before it. With any
 * other, no request would succeed until CloudFront has the new key everywhere.
 */
export function unreachableKey({ OriginKey }: Outputs, number: number): string | undefined {
  if (OriginKey === undefined) return undefined;
  const deployed = Number(OriginKey);
  if (number === deployed || number === deployed + 1) return undefined;
  return `The stack has key ${deployed} between CloudFront and the functions, and infra/settings.ts says ${number}: with it, every request would be
rejected for minutes. Set originKey to ${deployed}, or to ${deployed + 1} for a new key.`;
}
