// What a backup is called where only a name is shown.

/** An uploaded one has the name of its file, if the uploader said it. */
export const nameOfBackup = ({ instance_name, file_name }: { instance_name: string | null; file_name: string | null }): string =>
  instance_name ?? file_name ?? "Uploaded archive";
