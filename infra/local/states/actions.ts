// The actions of Step Functions that the service calls, as bodies of its JSON protocol.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { parseJson } from "../../../shared/domain/json.ts";
import { AwsFault } from "../errors.ts";
import type { StateMachine } from "../template/machines.ts";
import type { Executions } from "./executions.ts";
import { type Execution, Status } from "./records.ts";
import { DATA_LIMIT_BYTES } from "./run-execution.ts";

const requests = {
  start: z.object({ stateMachineArn: z.string(), name: z.string().optional(), input: z.string().default("{}") }),
  one: z.object({ executionArn: z.string() }),
  stop: z.object({ executionArn: z.string(), error: z.string().optional(), cause: z.string().optional() }),
  list: z.object({
    stateMachineArn: z.string(),
    statusFilter: Status.optional(),
    maxResults: z.number().default(100),
    nextToken: z.string().optional(),
  }),
};

function parse<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new AwsFault("ValidationException", z.prettifyError(parsed.error));
  return parsed.data;
}

const seconds = (milliseconds: number): number => milliseconds / 1000;
const NAME = /^[^\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]{1,80}$/u;

interface Service {
  machines: ReadonlyMap<string, StateMachine>;
  executions: Executions;
}

/** Throws AwsFault. */
export async function handle(service: Service, action: string, body: unknown): Promise<unknown> {
  switch (action) {
    case "StartExecution":
      return start(service, body);
    case "DescribeExecution":
      return describe(find(service, parse(requests.one, body).executionArn));
    case "StopExecution":
      return stop(service, body);
    case "ListExecutions":
      return list(service, body);
    default:
      throw new AwsFault("UnknownOperationException", `The local Step Functions does not know ${action}`);
  }
}

function find({ executions }: Service, executionArn: string): Execution {
  const found = executions.get(executionArn);
  if (!found) throw new AwsFault("ExecutionDoesNotExist", `Execution Does Not Exist: '${executionArn}'`);
  return found;
}

function requireMachine({ machines }: Service, arn: string): StateMachine {
  const machine = machines.get(arn);
  if (!machine) throw new AwsFault("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
  return machine;
}

async function start(service: Service, body: unknown): Promise<unknown> {
  const { stateMachineArn, name = randomUUID(), input } = parse(requests.start, body);
  const machine = requireMachine(service, stateMachineArn);
  if (!NAME.test(name)) throw new AwsFault("InvalidName", `Invalid Name: '${name}'`);
  if (Buffer.byteLength(input) > DATA_LIMIT_BYTES)
    throw new AwsFault(
      "ValidationException",
      `Value at 'input' failed to satisfy constraint: Member must have length less than or equal to ${DATA_LIMIT_BYTES}`,
    );
  if (parseJson(input) === undefined)
    throw new AwsFault("InvalidExecutionInput", "Invalid State Machine Execution Input: it is not JSON");
  const executionArn = machine.arn.replace(":stateMachine:", ":execution:").concat(":", name);
  const before = service.executions.get(executionArn);
  if (before && (before.status !== "RUNNING" || before.input !== input))
    throw new AwsFault("ExecutionAlreadyExists", `Execution Already Exists: '${executionArn}'`);
  const { startDate } = await service.executions.start({ executionArn, stateMachineArn, name, input });
  return { executionArn, startDate: seconds(startDate) };
}

function describe(execution: Execution): unknown {
  const { announced: _, startDate, stopDate, ...rest } = execution;
  const dates = { startDate: seconds(startDate), ...(stopDate === undefined ? {} : { stopDate: seconds(stopDate) }) };
  return { ...rest, ...dates, redriveCount: 0, redriveStatus: "NOT_REDRIVABLE" };
}

function stop(service: Service, body: unknown): unknown {
  const { executionArn, error, cause } = parse(requests.stop, body);
  service.executions.abort(find(service, executionArn), {
    status: "ABORTED",
    ...(error === undefined ? {} : { error }),
    ...(cause === undefined ? {} : { cause }),
  });
  return { stopDate: seconds(Date.now()) };
}

function list(service: Service, body: unknown): unknown {
  const { stateMachineArn, statusFilter, maxResults, nextToken = "0" } = parse(requests.list, body);
  requireMachine(service, stateMachineArn);
  const all = service.executions
    .all()
    .filter((each) => each.stateMachineArn === stateMachineArn && (statusFilter === undefined || each.status === statusFilter))
    .toSorted((a, b) => b.startDate - a.startDate);
  const from = Number(nextToken);
  const page = all.slice(from, from + (maxResults || 100));
  const next = from + page.length;
  return {
    executions: page.map(({ executionArn, name, status, startDate, stopDate }) => ({
      executionArn,
      stateMachineArn,
      name,
      status,
      startDate: seconds(startDate),
      ...(stopDate === undefined ? {} : { stopDate: seconds(stopDate) }),
    })),
    ...(next < all.length ? { nextToken: String(next) } : {}),
  };
}
