// A value with a button after it that copies it, in view where the pointer is.
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { text } from "../messages/text.ts";

/** `what` names the value for screen readers: "address"; `code` is for values that machines read. */
export function Copyable({ value, what, code = false }: { value: string; what: string; code?: boolean }) {
  return (
    <div className="copyable">
      <CopyToClipboard
        variant="inline"
        textToCopy={value}
        textToDisplay={code ? <code className="code">{value}</code> : value}
        copyButtonAriaLabel={text.resource.copy.copy(what)}
        copySuccessText={text.resource.copy.copied}
        copyErrorText={text.resource.copy.failed}
      />
    </div>
  );
}
