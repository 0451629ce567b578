// What a resource is at a glance, below its name: values that say by themselves what they are, with their labels for screen
// readers.
import type { ReactNode } from "react";

interface Fact {
  label: string;
  value: ReactNode;
}

export const Summary = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className="summary">
    {facts.map(({ label, value }) => (
      <div key={label}>
        <dt className="unseen">{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
