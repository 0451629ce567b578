// What a resource is at a glance, below its name: values that say by themselves what they are, with their labels for screen
// readers.
import type { ReactNode } from "react";

interface Fact {
  label: string;
  value: ReactNode;
  /** A phone leaves it out: its page has room for it further down. */
  minor?: boolean;
}

export const Summary = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className="summary">
    {facts.map(({ label, value, minor = false }) => (
      <div key={label} {...(minor && { className: "minor" })}>
        <dt className="unseen">{label}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
