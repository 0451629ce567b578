// The page for unknown URLs.
import Box from "@cloudscape-design/components/box";
import { Link } from "../app/link.tsx";
import { Page } from "../app/page.tsx";
import { text } from "../messages/text.ts";

export default function NotFound() {
  return (
    <Page title={text.shell.notFound.title}>
      <Box>
        {text.shell.notFound.text} <Link to="/">{text.shell.notFound.home}</Link>
      </Box>
    </Page>
  );
}
