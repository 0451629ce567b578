// An address that no page has.
import Box from "@cloudscape-design/components/box";
import { Link } from "./link.tsx";
import { Page } from "./page.tsx";

export default function NotFound() {
  return (
    <Page title="There is no such page">
      <Box>
        The address may be mistyped, or what it led to is gone. <Link to="/">Go to the start page</Link>
      </Box>
    </Page>
  );
}
