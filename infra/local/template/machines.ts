// The state machines of a template.
import * as z from "zod";
import type { Json, Resource } from "./resolve.ts";

export interface StateMachine {
  logicalId: string;
  name: string;
  arn: string;
  definition: Json;
  role: string;
}
const MachineProperties = z.object({
  DefinitionString: z.string(),
  RoleArn: z.string(),
});

export const readMachines = (machines: readonly Resource[]): StateMachine[] =>
  machines.map(({ logicalId, name, arn, properties }) => {
    const { DefinitionString, RoleArn } = MachineProperties.parse(properties);
    return { logicalId, name, arn, definition: z.json().parse(JSON.parse(DefinitionString)), role: RoleArn };
  });
