// The roles of a template, each with its policies: its own, and those that name it.
import * as z from "zod";
import type { Resource } from "./resolve.ts";

const PolicyDocument = z.object({
  Version: z.string().default("2012-10-17"),
  Statement: z.array(z.record(z.string(), z.json())),
});
type PolicyDocument = z.infer<typeof PolicyDocument>;
export type Role = Resource & { policies: PolicyDocument[] };

const InlinePolicies = z.array(z.object({ PolicyDocument: PolicyDocument })).default([]);
const RoleProperties = z.object({ Policies: InlinePolicies });
const PolicyProperties = z.object({ PolicyDocument, Roles: z.array(z.string()).default([]) });

export function readRoles(resources: readonly Resource[]): Role[] {
  const attached = resources
    .filter(({ type }) => type === "AWS::IAM::Policy")
    .map(({ properties }) => PolicyProperties.parse(properties));
  return resources
    .filter(({ type }) => type === "AWS::IAM::Role")
    .map((role) => {
      const { Policies } = RoleProperties.parse(role.properties);
      const attachedPolicies = attached.filter(({ Roles }) => Roles.includes(role.name));
      return { ...role, policies: [...Policies, ...attachedPolicies].map((each) => each.PolicyDocument) };
    });
}
