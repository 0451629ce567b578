// What is wrong with a request, or with a field of it: in English as the API says it itself.
import { type ProblemCode, PROBLEMS } from "../../../../shared/domain/problems.ts";

export const problems: Readonly<Record<ProblemCode, string>> = PROBLEMS;
