// How many of its files a backup may lack before whoever creates an instance from it has to say that they know.

const COUNT_MAX = 3;
const SHARE_MAX = 0.01;

/** Backups from before the files were counted say nothing. */
export const lacksManyFiles = ({
  missing_files,
  listed_files,
}: {
  missing_files: number;
  listed_files: number | null;
}): boolean => listed_files !== null && missing_files > COUNT_MAX && missing_files > SHARE_MAX * listed_files;
