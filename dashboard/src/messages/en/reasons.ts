// Why something has its status, why an operation failed, and what a check found: in English as the API says it itself, except
// that its users set a field where those of the dashboard have a choice.
import { type ReasonCode, REASONS } from "../../../../shared/domain/reasons.ts";

const withChoice = (reason: string): string => reason.replace("set rehearse to false", "turn off “Rehearse first”");

export const reasons: Readonly<Record<ReasonCode, string>> = {
  ...REASONS,
  rehearsal_out_of_memory: withChoice(REASONS.rehearsal_out_of_memory),
  rehearsal_memory: withChoice(REASONS.rehearsal_memory),
  rehearsal_room: withChoice(REASONS.rehearsal_room),
  rehearsal_stopped: withChoice(REASONS.rehearsal_stopped),
  code_new_host_key: REASONS.code_new_host_key.replace(
    "check the code with trust_new_host_keys",
    "check the code and choose “Trust new host keys”",
  ),
  code_host_key_changed: REASONS.code_host_key_changed.replace(
    "check the code with trust_new_host_keys",
    "check the code and choose “Trust new host keys”",
  ),
};
