// Which passwords nobody may choose. Apart from the rules that schemas have: only functions that set passwords know the list.
import { invalid } from "../../api/errors.ts";
import { isCommonPassword } from "../../platform/common-passwords.ts";

export function requireUncommonPassword(field: string, password: string): void {
  if (isCommonPassword(password)) throw invalid({ field, reason: "is one of the most common passwords; choose another" });
}
