// Converts a synthesized state machine to one that `aws-local-stepfunctions` runs as AWS would, or throws an error that says why
// it cannot.
import { StateMachine as Interpreter, type StateMachineDefinition } from "aws-local-stepfunctions";
import * as z from "zod";
import { LocalError } from "../errors.ts";
import type { Json } from "../template/resolve.ts";
import { DAY_SECONDS } from "../../../shared/domain/durations.ts";

// The interpreter ends a task without TimeoutSeconds after a minute, AWS never: the function's own timeout does.
// Twenty days is practically never, and setTimeout accepts no more than 24.
const NEVER_SECONDS = 20 * DAY_SECONDS;
const WAIT_RESOURCE = "arn:aws:lambda:local:000000000000:function:wait";

const State = z.looseObject({ Type: z.string() });
type State = z.infer<typeof State>;
const Definition = z.looseObject({
  StartAt: z.string(),
  QueryLanguage: z.string().optional(),
  TimeoutSeconds: z.number().optional(),
  States: z.record(z.string(), State),
});
const Retriers = z.array(z.looseObject({ IntervalSeconds: z.number().default(1), MaxDelaySeconds: z.number().optional() }));
const Catchers = z.array(z.record(z.string(), z.unknown()));

/** The interpreter reads "$" as a field of that name; for AWS it is the default, the whole. */
function withoutRootResultPath({ ResultPath, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return ResultPath === undefined || ResultPath === "$" ? rest : { ...rest, ResultPath };
}

function prepare(machine: string, name: string, state: State, timeScale: number): Record<string, unknown> {
  const reject = (problem: string): LocalError =>
    new LocalError(
      `State "${name}" of ${machine} ${problem}: the local runner cannot run that; write it in JSONPath with functions as tasks`,
    );
  const text = JSON.stringify(state);
  if (state["QueryLanguage"] === "JSONata" || "Assign" in state || "Arguments" in state || "Output" in state)
    throw reject("uses JSONata");
  if ("TimeoutSecondsPath" in state) throw reject("has a TimeoutSecondsPath");
  if (text.includes("$$.State.") || text.includes("$$.Task.")) throw reject("reads $$.State or $$.Task");
  const prepared = withoutRootResultPath(state);
  if (state["Retry"] !== undefined) {
    prepared["Retry"] = Retriers.parse(state["Retry"]).map(({ MaxDelaySeconds, ...retrier }) => ({
      ...retrier,
      IntervalSeconds: retrier.IntervalSeconds * timeScale,
      ...(MaxDelaySeconds === undefined ? {} : { MaxDelaySeconds: MaxDelaySeconds * timeScale }),
    }));
  }
  if (state["Catch"] !== undefined) prepared["Catch"] = Catchers.parse(state["Catch"]).map(withoutRootResultPath);
  switch (state.Type) {
    case "Task":
      if (!/^arn:aws:lambda:[^:]*:\d+:function:/.test(String(state["Resource"])))
        throw reject(`calls ${String(state["Resource"])} (LambdaInvoke needs payloadResponseOnly)`);
      return { TimeoutSeconds: NEVER_SECONDS, ...prepared };
    case "Wait": {
      // A task, because the interpreter's own wait can only be shortened to a fixed time, and ends when the execution does.
      const { SecondsPath, ...rest } = prepared;
      if (SecondsPath === undefined || "InputPath" in rest) throw reject("waits otherwise than by SecondsPath");
      const Parameters = { "seconds.$": SecondsPath };
      return { ...rest, Type: "Task", Resource: WAIT_RESOURCE, Parameters, ResultPath: null, TimeoutSeconds: NEVER_SECONDS };
    }
    case "Pass": {
      // The interpreter passes its input on if Result is false, 0, "" or null; as Parameters it means the same and is kept.
      const { Result, ...rest } = prepared;
      return "Result" in prepared && !Result ? { ...rest, Parameters: Result } : prepared;
    }
    case "Choice":
    case "Succeed":
    case "Fail":
      return prepared;
    default:
      throw reject(`is of type ${state.Type}`);
  }
}

export interface Runnable {
  interpreter: Interpreter;
  /** The function of each task state. */
  tasks: Record<string, string>;
  waits: string[];
}

/** The test of the templates checks how far the parsed definition has the interpreter's type. */
const isDefinition = (value: unknown): value is StateMachineDefinition => Definition.safeParse(value).success;

export function runnable({ name, definition: json }: { name: string; definition: Json }, timeScale: number): Runnable {
  const parsed = Definition.parse(json);
  if (parsed.QueryLanguage === "JSONata")
    throw new LocalError(`${name} is written in JSONata, which the local runner would ignore: use JSONPath`);
  const states = Object.entries(parsed.States).map(([key, each]) => [key, prepare(name, key, each, timeScale)] as const);
  const prepared = { ...parsed, States: Object.fromEntries(states) };
  if (!isDefinition(prepared)) throw new LocalError(`${name} has a definition that is none: synthesize it again`);
  return {
    // The definition is not validated: that takes a third of a second, the converted definition deviates from the language, and a
    // test validates every definition of the templates.
    interpreter: new Interpreter(prepared, { validationOptions: { noValidate: true } }),
    tasks: Object.fromEntries(
      Object.entries(parsed.States).flatMap(([key, each]) => (each.Type === "Task" ? [[key, String(each["Resource"])]] : [])),
    ),
    waits: Object.entries(parsed.States).flatMap(([key, each]) => (each.Type === "Wait" ? [key] : [])),
  };
}
