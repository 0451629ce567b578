// A value with a button after it that copies it, in view where the pointer is.
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import { text } from "../../messages/text.ts";

interface Props {
  value: string;
  /** Names the value for screen readers: "address". */
  valueName: string;
  /** Set for values that machines read. */
  code?: boolean;
  /** What is shown of a long one. */
  display?: string;
}

export function Copyable({ value, valueName, code = false, display = value }: Props) {
  return (
    <div className="copyable">
      <CopyToClipboard
        variant="inline"
        textToCopy={value}
        textToDisplay={code ? <code className="code">{display}</code> : display}
        copyButtonAriaLabel={text.resource.copy.copy(valueName)}
        copySuccessText={text.resource.copy.copied}
        copyErrorText={text.resource.copy.failed}
      />
    </div>
  );
}
