// Asks whether an instance may begin with a backup that lacks many of its files.
import Checkbox from "@cloudscape-design/components/checkbox";
import type { Backup } from "../../../shared/api/backups.ts";
import { lacksManyFiles } from "../../../shared/domain/missing-files.ts";
import { text } from "../messages/text.ts";
import { formatCount } from "../resource/words/number.ts";

interface Props {
  backup: Backup | undefined;
  accepted: boolean;
  onChange: (accepted: boolean) => void;
}

export function AcceptMissingFiles({ backup, accepted, onChange }: Props) {
  const say = text.instances.missingFiles;
  if (backup === undefined || !lacksManyFiles(backup)) return null;
  const { missing_files, listed_files } = backup;
  return (
    <Checkbox
      checked={accepted}
      description={say.about(formatCount(missing_files), formatCount(listed_files ?? missing_files))}
      onChange={({ detail }) => onChange(detail.checked)}
    >
      {say.accept}
    </Checkbox>
  );
}
