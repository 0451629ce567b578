// Why something has its status, why an operation failed, and what a check found: in English as the API says it itself.
import { type ReasonCode, REASONS } from "../../../../shared/domain/reasons.ts";

export const reasons: Readonly<Record<ReasonCode, string>> = REASONS;
