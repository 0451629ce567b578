// A domain, an email or a name in another script as people read it, and as the network writes it.
import Box from "@cloudscape-design/components/box";

interface Props {
  ascii: string;
  /** An older service sends none. */
  unicode?: string | undefined;
}

export const AsciiAndUnicode = ({ ascii, unicode = ascii }: Props) =>
  unicode === ascii ? (
    ascii
  ) : (
    <>
      {unicode} <Box variant="small">({ascii})</Box>
    </>
  );
