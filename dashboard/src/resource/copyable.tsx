// A value with a button that copies it.
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";

/** `what` names the value for screen readers: "address"; `code` is for values that machines read. */
export function Copyable({ value, what, code = false }: { value: string; what: string; code?: boolean }) {
  return (
    <CopyToClipboard
      variant="inline"
      textToCopy={value}
      textToDisplay={code ? <code className="code">{value}</code> : value}
      copyButtonAriaLabel={`Copy ${what}`}
      copySuccessText="Copied"
      copyErrorText="Couldn't copy. Select the text and copy it manually."
    />
  );
}
