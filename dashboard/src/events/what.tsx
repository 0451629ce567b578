// What a bulk action does beside its name, a line for each of its parameters.
import { parametersInWords } from "./bulk-parameters.ts";

export const What = ({ parameters }: { parameters: Readonly<Record<string, unknown>> }) =>
  parametersInWords(parameters).map((line) => (
    <div key={line} className="names">
      {line}
    </div>
  ));
