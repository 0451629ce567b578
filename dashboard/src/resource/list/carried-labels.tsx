// The labels that a form takes over from the record that it creates another one like.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import type { Labels as Map } from "../../../../shared/api/fields.ts";
import { text } from "../../messages/text.ts";
import { Labels } from "./labels.tsx";

const hasAny = (labels: Map | undefined): labels is Map => labels !== undefined && Object.keys(labels).length > 0;

/** Returns the labels for the body of the request. */
export const labelsInBody = (labels: Map | undefined) => (hasAny(labels) ? { labels } : {});

export const CarriedLabels = ({ of }: { of: Map | undefined }) =>
  hasAny(of) && <KeyValuePairs items={[{ label: text.resource.labels.title, value: <Labels of={of} /> }]} />;
