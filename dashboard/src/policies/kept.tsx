// A picture of what a policy keeps: for each of its rules as many dots as backups stay because of it.
import type { BackupPolicy } from "../../../shared/api/policy-shown.ts";
import { KEEP_RULES } from "../../../shared/domain/retention.ts";
import { text } from "../messages/text.ts";

/** A year of days would fill the dialog. */
const DOTS_MAX = 31;

/** Its words say the same beside it. */
export const Kept = ({ keep }: Pick<BackupPolicy, "keep">) => (
  <dl className="kept" aria-hidden="true">
    {KEEP_RULES.flatMap((rule) => {
      const count = keep[rule] ?? 0;
      return Number.isInteger(count) && count > 0
        ? [
            <dt key={rule}>{text.policies.form.rules[rule]}</dt>,
            <dd key={`${rule} dots`}>
              {"●".repeat(Math.min(count, DOTS_MAX))}
              {count > DOTS_MAX && `… ${count}`}
            </dd>,
          ]
        : [];
    })}
  </dl>
);
