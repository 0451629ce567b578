// What the pages before signing in are made of. Without the design system, because a first visit waits for it.
import { type ReactNode, useId } from "react";
import { useBrand } from "../app/brand.ts";
import { text } from "../messages/text.ts";

export function Product() {
  const brand = useBrand();
  return (
    <h1>
      {brand?.logo != null && <img className="logo" src={brand.logo} alt="" />}
      {brand?.name}
    </h1>
  );
}

export function Support() {
  const url = useBrand()?.support_url;
  return (
    url != null && (
      <a href={url} target="_blank" rel="noreferrer" title={text.app.newTab}>
        {text.app.support}
      </a>
    )
  );
}

interface FieldProps {
  label: string;
  error: string | undefined;
  value: string;
  onChange: (typed: string) => void;
  type: "email" | "password" | "text";
  name: string;
  autoComplete: string;
  autoFocus?: boolean;
  hint?: string;
}

export function Field({ label, error, hint, onChange, ...input }: FieldProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
      <input
        {...input}
        id={id}
        onChange={({ target }) => onChange(target.value)}
        aria-invalid={error !== undefined}
        aria-describedby={error !== undefined ? `${id}-error` : hint === undefined ? undefined : `${id}-hint`}
      />
      {error !== undefined && (
        <p className="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

export const Box = ({ type, title, children }: { type: "error" | "warning" | "info"; title?: string; children: ReactNode }) => (
  <div className={`notice ${type}`}>
    {title !== undefined && <strong>{title}</strong>}
    {children}
  </div>
);
