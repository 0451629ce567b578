// The forecast of a form: of its present values, once they are valid and the user has stopped typing.
import type * as z from "zod";
import { Forecast, type Rehearse } from "./forecast.tsx";
import { useSettled } from "../page/use-pages.ts";

interface Props<Schema extends z.ZodType> {
  schema: Schema;
  body: unknown;
  rehearse: (body: z.output<Schema>) => ReturnType<Rehearse>;
  of: string;
  /** The error that the form shows at a field. */
  error: (field: string) => string | undefined;
  returns?: boolean;
}

/** Each dry run counts as a request, and a name is typed letter by letter. */
const PAUSE_MS = 600;

export function SettledForecast<Schema extends z.ZodType>({ schema, body, rehearse, of, error, returns = true }: Props<Schema>) {
  const latest = JSON.stringify(body);
  const settled = useSettled(latest, PAUSE_MS);
  const valid = schema.safeParse(JSON.parse(settled));
  return (
    valid.success && (
      <Forecast
        rehearse={() => rehearse(valid.data)}
        of={[of, settled]}
        returns={returns}
        // While the user types, the last one may be of a value that they are just correcting.
        isAtField={(field) => settled !== latest || error(field) !== undefined}
      />
    )
  );
}
